-- ARGV: time, holder, span of the lease, how many jobs at most; then id and epoch of each job of
-- this holder that ended well. They are forgotten first; where that is not all there is to do,
-- nothing is done and the answer is 0.
local holder, ttl, wanted = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local settles_apart = conf and (conf.deps or conf.limits)
local gone = 0
if 4 < #ARGV then
  gone = not settles_apart and forget_all(holder, 5)
  if not gone then return 0 end
end
if call('ZADD', K .. 'leases', now + ttl, holder) == 1 then call('SADD', K .. 'holders', holder) end
-- Five counts change together, so one call reads them and one writes them.
local COUNTS = { 'epoch', 'ready', 'running', 'taken', 't.done' }
local had = call('HMGET', K .. 'counts', unpack(COUNTS))
for i = 1, #COUNTS do had[i] = tonumber(had[i]) or 0 end
local function set_counts(values)
  local fields = {}
  for i = 1, #COUNTS do
    -- Given as texts: Redis would print large numbers with an exponent.
    fields[i * 2 - 1], fields[i * 2] = COUNTS[i], string.format('%d', values[i])
  end
  call('HSET', K .. 'counts', unpack(fields))
end
local epoch, repaired = had[1] + 1, 0

-- Jobs move from their lanes to their holder. A held job's value is the epoch, the time and its
-- place in the call; what more must happen when it ends than to be forgotten follows a plus.
local function give(entries)
  if #entries == 0 then return 0 end
  local ids, marked, fields = {}, {}, {}
  for i = 1, #entries do
    local entry = entries[i]
    if #entry ~= 32 then
      entry = string.sub(entry, 1, 32)
      marked[#marked + 1] = i
      marked[entry] = true
    end
    ids[i] = entry
  end
  local bodies = fetched(K .. 'jobs', ids)
  local prefix = string.format('%d.%d.', epoch, now)
  for i = 1, #ids do
    local id, body = ids[i], bodies[i]
    if body then
      local value = prefix .. i
      local plain = string.byte(body, 15) == 10
      if marked[id] or not plain then
        local text = ''
        -- A garbled body may have no line at all; whoever is given it sets it aside.
        local to = not plain and string.find(body, '\n', 16, true)
        if to then text = string.sub(body, 16, to - 1) end
        local key, span = string.match(text, '^%d\t[^\t]*\t0?\t%d*\t([^\t]*)\t([^\t]*)\t')
        if marked[id] or not plain and (key ~= '' or span ~= '') then
          value = value .. '+' .. text
        end
        key = key or string.match(text, '^%d\t[^\t]*\t%d*\t%d*\t([^\t]*)\t')
        if key and key ~= '' then call('HINCRBY', K .. 'keys', key, 1) end
      end
      fields[#fields + 1] = id
      fields[#fields + 1] = value
    else
      call('HDEL', K .. 'marks', id)
      repaired = repaired + 1
    end
  end
  chunked('HSET', K .. 'held:' .. holder, fields)
  local given = #fields / 2
  if 0 < repaired then
    call('HINCRBY', K .. 'counts', 't.repaired', repaired)
    -- Where a job is gone there may be more: the next sweep looks.
    call('HDEL', K .. 'counts', 'repair_at')
  end
  local marks = {}
  for _, i in ipairs(marked) do
    local mark = call('HGET', K .. 'marks', ids[i])
    if mark then
      local checkpoint = call('HGET', K .. 'blobs', ids[i] .. 'c')
      marks[#marks + 1] = { i, mark, checkpoint }
    end
  end
  return given, ids, bodies, marks
end
local function answer(again, ids, bodies, marks)
  return { epoch, now, again, ids or {}, bodies or {}, marks or {}, settles_apart and 1 or 0 }
end

local next_due = call('ZRANGE', K .. 'later', 0, 0, 'WITHSCORES')[2]
local usual = not conf or not (conf.paused or conf.tenants or conf.tombs or conf.limits)
if usual and not (next_due and tonumber(next_due) <= now) then
  local entries = {}
  for p in string.gmatch(conf and conf.prios or '5', '%d') do
    local missing = wanted - #entries
    if missing <= 0 then break end
    local some = call('LPOP', K .. 'lane:' .. p .. ':', missing)
    if some then
      if #entries == 0 then
        entries = some
      else
        for i = 1, #some do entries[#entries + 1] = some[i] end
      end
    end
  end
  local again = next_due and tonumber(next_due) - now or -1
  local given, ids, bodies, marks = give(entries)
  local left = had[2] - #entries
  set_counts({ epoch, left, had[3] - gone + given, had[4] + given, had[5] + gone })
  if #entries == 0 and 0 < wanted then return answer(again) end
  if conf then left = left - call('SCARD', K .. 'aside') end
  if 0 < left then
    again = 0
    call('ZADD', K .. 'wake', 0, 'w')
  else
    -- The sign of a job that came meanwhile and is taken by now would wake somebody for nothing.
    call('DEL', K .. 'wake')
  end
  return answer(again, ids, bodies, marks)
end
