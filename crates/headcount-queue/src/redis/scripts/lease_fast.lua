-- ARGV: time, holder, span of the lease, how many jobs at most.
local holder, ttl, wanted = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
if call('ZADD', K .. 'leases', now + ttl, holder) == 1 then call('SADD', K .. 'holders', holder) end
local epoch = call('HINCRBY', K .. 'counts', 'epoch', 1)
local repaired = 0

-- Jobs move from their lanes to their holder. A held job's value is the epoch, the time and its
-- place in the call; what more must happen when it ends than to be forgotten follows a plus.
local function give(entries)
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
  call('HINCRBY', K .. 'counts', 'running', given)
  call('HINCRBY', K .. 'counts', 'taken', given)
  local marks = {}
  for _, i in ipairs(marked) do
    local mark = call('HGET', K .. 'marks', ids[i])
    if mark then
      local checkpoint = call('HGET', K .. 'blobs', ids[i] .. 'c')
      marks[#marks + 1] = { i, mark, checkpoint }
    end
  end
  return ids, bodies, marks
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
  if #entries == 0 and 0 < wanted then return { epoch, now, again, {}, {}, {} } end
  local left = call('HINCRBY', K .. 'counts', 'ready', 0 - #entries)
  if conf then left = left - call('SCARD', K .. 'aside') end
  if 0 < left then
    again = 0
    call('ZADD', K .. 'wake', 0, 'w')
  else
    -- The sign of a job that came meanwhile and is taken by now would wake somebody for nothing.
    call('DEL', K .. 'wake')
  end
  if #entries == 0 then return { epoch, now, again, {}, {}, {} } end
  local ids, bodies, marks = give(entries)
  return { epoch, now, again, ids, bodies, marks }
end
