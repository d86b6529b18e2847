-- ARGV: time, holder, span of the lease, how many jobs at most; then, where jobs of this holder
-- ended well, what `forget_all` takes. They are forgotten first; where that is not all there is to
-- do, nothing is done and the answer is 0.
--
-- This runs for every few jobs, so it is written for the time it takes: a number that Redis or Lua
-- has to print costs as much as a command does, and a table that grows as much as two.
local format = string.format
local holder, wanted = ARGV[2], tonumber(ARGV[4])
local settles_apart = conf and (conf.deps or conf.limits)
local gone = 0
if ARGV[5] then
  gone = not settles_apart and forget_all(holder, 5)
  if not gone then return 0 end
end
if call('ZADD', K .. 'leases', format('%d', now + ARGV[3]), holder) == 1 then
  call('SADD', K .. 'holders', holder)
end
-- Five counts change together, so one call reads them and one writes them.
local counts = K .. 'counts'
local had = call('HMGET', counts, 'epoch', 'ready', 'running', 'taken', 't.done')
-- What somebody else wrote there is no number, and counts as none.
for i = 1, 5 do had[i] = tonumber(had[i]) or 0 end
local epoch, repaired = had[1] + 1, 0

-- What more must happen when a job ends than to be forgotten, and its key counted as running.
local function rest_of(body, is_plain, is_marked)
  local text, key, span = '', nil, nil
  -- A garbled body may have no line at all; whoever is given it sets it aside.
  local to = not is_plain and string.find(body, '\n', 16, true)
  if to then text = string.sub(body, 16, to - 1) end
  key, span = string.match(text, '^%d\t[^\t]*\t0?\t%d*\t([^\t]*)\t([^\t]*)\t')
  local has_rest = is_marked or not is_plain and (key ~= '' or span ~= '')
  key = key or string.match(text, '^%d\t[^\t]*\t%d*\t%d*\t([^\t]*)\t')
  if key and key ~= '' then call('HINCRBY', K .. 'keys', key, 1) end
  return has_rest and '+' .. text or ''
end

-- Jobs move from their lanes to their holder. A held job's value is the epoch, the time and its
-- place in the call; what more must happen when it ends than to be forgotten follows a plus.
-- Entries become ids, and those whose job is gone are left out.
local PLACES = { '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15' }
local function give(entries)
  local many = #entries
  if many == 0 then return 0 end
  local is_marked = false
  for i = 1, many do
    local entry = entries[i]
    if #entry ~= 32 then
      is_marked = is_marked or {}
      is_marked[i] = true
      entries[i] = string.sub(entry, 1, 32)
    end
  end
  local bodies = fetched(K .. 'jobs', entries)
  local prefix, byte, given, marks = format('%d.%d.', epoch, now), string.byte, 0, false
  local fields = {}
  for i = 1, many do
    local id, body = entries[i], bodies[i]
    if body then
      given = given + 1
      local value = prefix .. (PLACES[given] or given)
      local is_plain, marked = byte(body, 15) == 10, is_marked and is_marked[i]
      if marked or not is_plain then value = value .. rest_of(body, is_plain, marked) end
      local mark = marked and call('HGET', K .. 'marks', id)
      if mark then
        marks = marks or {}
        marks[#marks + 1] = { given, mark, call('HGET', K .. 'blobs', id .. 'c') }
      end
      fields[given * 2 - 1], fields[given * 2] = id, value
      if given < i then entries[given], bodies[given] = id, body end
    else
      call('HDEL', K .. 'marks', id)
      repaired = repaired + 1
    end
  end
  for i = given + 1, many do entries[i], bodies[i] = nil, nil end
  chunked('HSET', K .. 'held:' .. holder, fields)
  if 0 < repaired then
    call('HINCRBY', counts, 't.repaired', repaired)
    -- Where a job is gone there may be more: the next sweep looks.
    call('HDEL', counts, 'repair_at')
  end
  return given, table.concat(entries), bodies, marks
end
-- The ids are one text, 32 letters each.
local function answer(again, ids, bodies, marks)
  return { epoch, now, again, settles_apart and 1 or 0, ids or '', bodies or false, marks or false }
end

local next_due = call('ZRANGE', K .. 'later', '0', '0', 'WITHSCORES')[2]
local usual = not conf or not (conf.paused or conf.tenants or conf.tombs or conf.limits)
if usual and not (next_due and tonumber(next_due) <= now) then
  local entries = {}
  for p in string.gmatch(conf and conf.prios or '5', '%d') do
    local missing = wanted - #entries
    if missing <= 0 then break end
    local some = call('LPOP', K .. 'lane:' .. p .. ':', format('%d', missing))
    if some then
      if #entries == 0 then
        entries = some
      else
        for i = 1, #some do entries[#entries + 1] = some[i] end
      end
    end
  end
  local again = next_due and tonumber(next_due) - now or -1
  local taken = #entries
  local given, ids, bodies, marks = give(entries)
  local left = had[2] - taken
  call('HSET', counts, 'epoch', format('%d', epoch), 'ready', format('%d', left),
    'running', format('%d', had[3] - gone + given),
    'taken', format('%d', had[4] + given), 't.done', format('%d', had[5] + gone))
  if taken == 0 and 0 < wanted then return answer(again) end
  if conf then left = left - call('SCARD', K .. 'aside') end
  if 0 < left then
    again = 0
    call('ZADD', K .. 'wake', '0', 'w')
  else
    -- The sign of a job that came meanwhile and is taken by now would wake somebody for nothing.
    call('DEL', K .. 'wake')
  end
  return answer(again, ids, bodies, marks)
end
