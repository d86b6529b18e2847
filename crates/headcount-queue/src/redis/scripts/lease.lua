-- With limits, tenants, tombstones or jobs that are due: one job after the other.
promote(1000)

local function slots()
  if not conf.running_max then return math.huge end
  local running = tonumber(call('HGET', K .. 'counts', 'running') or '0')
  return math.max(conf.running_max - running, 0)
end

-- The rate is a bucket that runs at so many microseconds a job (GCRA), like `Rate` of the core.
local theoretical, each, burst = 0, 0, 0
local now_micros = now * 1000
if conf.rate_each then
  each, burst = conf.rate_each, conf.rate_each * conf.rate_jobs
  theoretical = tonumber(call('GET', K .. 'rate') or '0')
end

local function rate_free()
  if not conf.rate_each then return math.huge end
  local room = math.floor((now_micros + burst - math.max(theoretical, now_micros)) / each)
  return math.max(0, math.min(room, conf.rate_jobs))
end

-- The next entry of a lane that is no tombstone.
local function pop(p, t)
  while true do
    local entry = call('LPOP', lane_key(p, t))
    if not entry then return nil end
    if not is_tomb(string.sub(entry, 1, 32)) then return entry end
  end
end

local function first_of(p)
  if not conf.tenants then return pop(p, ''), '' end
  local t = call('LINDEX', K .. 'ring:' .. p, 0)
  if not t then return nil end
  return pop(p, t), t
end

local taken = tonumber(call('HGET', K .. 'counts', 'taken') or '0')
local function turn()
  if not conf.weights then return nil end
  local total = 0
  for _, weight in ipairs(conf.weights) do total = total + weight end
  local left = taken % total
  for number, weight in ipairs(conf.weights) do
    if left < weight then return tostring(number - 1) end
    left = left - weight
  end
end

local function next_entry()
  local favoured = turn()
  if favoured then
    local entry, t = first_of(favoured)
    if entry then return entry, favoured, t end
  end
  for p in string.gmatch(conf.prios, '%d') do
    local entry, t = first_of(p)
    if entry then return entry, p, t end
  end
end

-- It was this tenant's turn; with its credit used up it goes to the back of the ring.
local function charge(p, t)
  if not conf.tenants then return end
  local ring = K .. 'ring:' .. p
  local credit = call('HGET', K .. 'credit', p)
  credit = tonumber(credit or (conf.tenant_weights or {})[t] or 1) - 1
  lane_lost(p, t)
  if call('HEXISTS', K .. 'lens', p .. ':' .. t) == 0 then return end
  if credit <= 0 then
    call('HDEL', K .. 'credit', p)
    call('LMOVE', ring, ring, 'LEFT', 'RIGHT')
  else
    call('HSET', K .. 'credit', p, credit)
  end
end

local starting = {}
local function set_aside(entry, p, t)
  if not conf.key_max then return false end
  local body = call('HGET', K .. 'jobs', string.sub(entry, 1, 32))
  local key = body and head_of(head_text(body)).key or ''
  if key == '' then return false end
  local running = tonumber(call('HGET', K .. 'keys', key) or '0') + (starting[key] or 0)
  if running < conf.key_max then
    starting[key] = (starting[key] or 0) + 1
    return false
  end
  call('RPUSH', line_key(key), entry)
  call('SADD', K .. 'lines', key)
  call('SADD', K .. 'aside', string.sub(entry, 1, 32))
  lane_lost(p, t)
  return true
end

local entries, aside = {}, 0
if not conf.paused then
  local room = math.min(wanted, slots(), rate_free())
  while #entries < room and aside < 1000 do
    local entry, p, t = next_entry()
    if not entry then break end
    if set_aside(entry, p, t) then
      aside = aside + 1
    else
      charge(p, t)
      taken = taken + 1
      entries[#entries + 1] = entry
    end
  end
  if conf.rate_each then
    theoretical = math.max(theoretical, now_micros) + each * #entries
    call('SET', K .. 'rate', string.format('%d', theoretical))
  end
end
local ready = #entries
local given, ids, bodies, marks = give(entries)
-- Not gathered like the others: whether one more may run is asked again below.
call('HINCRBY', K .. 'counts', 'running', given - gone)
count('epoch', 1)
count('ready', -ready)
count('taken', given)
count('t.done', gone)

-- Whether a job stands in any lane; those set aside do not.
local function any()
  for p in string.gmatch(conf.prios, '%d') do
    if conf.tenants then
      if call('EXISTS', K .. 'ring:' .. p) == 1 then return true end
    elseif 0 < call('LLEN', lane_key(p, '')) then
      if not conf.tombs then return true end
      local entry = pop(p, '')
      if entry then
        call('LPUSH', lane_key(p, ''), entry)
        return true
      end
    end
  end
  return false
end

local again = -1
woken = false
if not conf.paused and 0 < slots() then
  local due = call('ZRANGE', K .. 'later', 0, 0, 'WITHSCORES')[2]
  if due then again = math.max(tonumber(due) - now, 0) end
  if any() then
    local wait = 0
    if conf.rate_each then
      wait = math.ceil(math.max(math.max(theoretical + each - burst, 0) - now_micros, 0) / 1000)
    end
    if again < 0 or wait < again then again = wait end
    woken = wait == 0
  end
end
if conf.tombs and call('EXISTS', K .. 'tombs') == 0 then set_conf('tombs', nil) end
finish()
return answer(again, ids, bodies, marks)
