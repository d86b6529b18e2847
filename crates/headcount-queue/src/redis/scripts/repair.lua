-- What cannot be, put right. Somebody else than these scripts must have been at work: a key was
-- deleted, evicted or changed. The check asks every place how many jobs it has, and adds them up:
-- a few dozen reads, one more for each lane, line and holder. Only where the sum is not the number
-- of jobs are the jobs themselves looked at, and then so many at a time that nobody waits long.
local LANES_MAX = 50000 -- entries of lanes and lines, and held jobs, that are looked through
local JOBS_MAX, BYTES_MAX = 10000, 16 * 1024 * 1024 -- jobs that one sweep looks at
local TOMBS_MAX, LINES_MAX, NEEDS_MAX = 10000, 1000, 1000
local PAUSE, REST = 1000, 60000 -- between two parts of a search; after one that explained nothing
local GRACE = 8000 -- the lease of a holder whose own was lost, long enough to renew it

-- How many things were put right by this sweep.
local repaired = 0
local function mended(many) repaired = repaired + (many or 1) end

-- What has been gathered is written, so that what follows sees it.
local function write()
  finish()
  delta, returned, freed = {}, {}, {}
end

-- An id without a job: nothing of it is left to be done.
local function ghost(id)
  call('HDEL', K .. 'marks', id)
  mended()
end

-- A lease that was lost is given anew: if its holder lives it goes on undisturbed, and if not it
-- runs out like any other.
local function mend_holders()
  if call('SCARD', K .. 'holders') == call('ZCARD', K .. 'leases') then return end
  local known = {}
  for _, holder in ipairs(call('SMEMBERS', K .. 'holders')) do
    known[holder] = true
    if not call('ZSCORE', K .. 'leases', holder) then
      call('ZADD', K .. 'leases', now + GRACE, holder)
      mended()
    end
  end
  for _, holder in ipairs(call('ZRANGE', K .. 'leases', 0, -1)) do
    if not known[holder] then
      call('SADD', K .. 'holders', holder)
      mended()
    end
  end
end

-- Lanes and lines ---------------------------------------------------------------------------

local tombs, buried, buried_in_lines = {}, 0, 0
local function read_tombs()
  tombs, buried, buried_in_lines = {}, 0, 0
  if TOMBS_MAX < call('HLEN', K .. 'tombs') then return false end
  local all = call('HGETALL', K .. 'tombs')
  for i = 1, #all, 2 do
    local times = tonumber(all[i + 1]) or 0
    tombs[all[i]] = times
    if string.sub(all[i], 1, 1) == 'L' then
      buried_in_lines = buried_in_lines + times
    else
      buried = buried + times
    end
  end
  if 0 < #all and not conf.tombs then
    set_conf('tombs', true)
    mended()
  end
  return true
end

-- How often each id is in a list; false when that is too much to look through.
local looked_through, room = {}, LANES_MAX
local function entries_of(key)
  if looked_through[key] ~= nil then return looked_through[key] end
  local length, times = call('LLEN', key), {}
  if room < length then times = false else room = room - length end
  for from = 0, times and length - 1 or -1, 5000 do
    for _, entry in ipairs(call('LRANGE', key, from, from + 4999)) do
      local id = string.sub(entry, 1, 32)
      times[id] = (times[id] or 0) + 1
    end
  end
  looked_through[key] = times
  return times
end

-- What is put into a lane meanwhile is seen as well: a scan may show a job twice.
local push_only = push
push = function(entry, head, command)
  push_only(entry, head, command)
  local times, id = looked_through[lane_key(head.p, head.t)], string.sub(entry, 1, 32)
  if times then times[id] = (times[id] or 0) + 1 end
end

-- A list that is too long to look through is believed to have what it should.
local function stands(key, prefix, id)
  local times = entries_of(key)
  return not times or (tombs[prefix .. id] or 0) < (times[id] or 0)
end

local function live_in(lane)
  local times, live = entries_of(K .. 'lane:' .. lane), 0
  if not times then return call('LLEN', K .. 'lane:' .. lane) end
  for id, many in pairs(times) do live = live + math.max(many - (tombs[id] or 0), 0) end
  return live
end

-- The lanes that lengths or rings speak of, and the lengths and rings that there are.
local function spoken_of()
  local lanes, lens, rings, known = {}, {}, {}, {}
  local function speak_of(lane)
    if not known[lane] then lanes[#lanes + 1] = lane end
    known[lane] = true
  end
  local all = call('HGETALL', K .. 'lens')
  for i = 1, #all, 2 do
    lens[all[i]] = tonumber(all[i + 1]) or 0
    speak_of(all[i])
  end
  for p = 0, 9 do
    rings[p] = call('LRANGE', K .. 'ring:' .. p, 0, -1)
    for _, t in ipairs(rings[p]) do speak_of(p .. ':' .. t) end
    speak_of(p .. ':')
  end
  table.sort(lanes)
  return lanes, lens, rings
end

-- A ring holds each tenant with jobs once. Those that are in it keep their order.
local function mend_ring(p, ring, lens)
  local kept, in_ring = {}, {}
  for _, t in ipairs(ring) do
    if lens[p .. ':' .. t] and not in_ring[t] then
      in_ring[t] = true
      kept[#kept + 1] = t
    end
  end
  local whole = #kept == #ring
  local missing = {}
  for lane in pairs(lens) do
    local t = string.sub(lane, 3)
    if string.sub(lane, 1, 1) == tostring(p) and not in_ring[t] then missing[#missing + 1] = t end
  end
  if whole and #missing == 0 then return end
  table.sort(missing)
  for _, t in ipairs(missing) do kept[#kept + 1] = t end
  call('DEL', K .. 'ring:' .. p)
  chunked('RPUSH', K .. 'ring:' .. p, kept)
  mended()
end

-- The lengths of the lanes, as the lanes have them. How many jobs stand in them.
local function mend_lens(lanes, lens)
  local entries, told_of, short = {}, 0, false
  local total = 0
  for _, lane in ipairs(lanes) do
    entries[lane] = call('LLEN', K .. 'lane:' .. lane)
    total = total + entries[lane]
    told_of = told_of + (lens[lane] or 0)
    short = short or entries[lane] < (lens[lane] or 0) or (lens[lane] or 1) <= 0
  end
  if not short and total - buried == told_of then return told_of end
  told_of = 0
  for _, lane in ipairs(lanes) do
    local live = entries[lane]
    if 0 < buried then live = live_in(lane) end
    if live ~= (lens[lane] or 0) or lens[lane] == 0 then
      if live == 0 then
        call('HDEL', K .. 'lens', lane)
      else
        call('HSET', K .. 'lens', lane, live)
      end
      mended()
    end
    lens[lane] = 0 < live and live or nil
    told_of = told_of + live
  end
  return told_of
end

-- How many jobs stand in lanes.
local function standing_in_lanes()
  if not conf.tenants and call('EXISTS', K .. 'lens') == 1 then
    set_conf('tenants', true)
    mended()
  end
  local total = 0
  if conf.tenants then
    local lanes, lens, rings = spoken_of()
    total = mend_lens(lanes, lens)
    for p = 0, 9 do mend_ring(p, rings[p], lens) end
    for lane in pairs(lens) do meet_priority(string.sub(lane, 1, 1)) end
    return total
  end
  for p = 0, 9 do
    local entries = call('LLEN', lane_key(p, ''))
    if 0 < entries and not string.find(conf.prios, p, 1, true) then
      meet_priority(tostring(p))
      mended()
    end
    total = total + entries
  end
  return total - buried
end

-- How many jobs stand in lines, as the lines say it; nil where there are too many to ask.
local function standing_in_lines()
  if LINES_MAX < call('SCARD', K .. 'lines') then return nil end
  local total = 0
  for _, key in ipairs(call('SMEMBERS', K .. 'lines')) do
    total = total + call('LLEN', line_key(key))
  end
  return total - buried_in_lines
end

-- Tombstones of entries that are gone would swallow jobs that come back.
local function mend_tombs()
  if next(tombs) == nil then return end
  local times = {}
  local function add(key, prefix)
    local some = entries_of(key)
    if not some then return false end
    for id, many in pairs(some) do times[prefix .. id] = (times[prefix .. id] or 0) + many end
    return true
  end
  for _, lane in ipairs((spoken_of())) do
    if not add(K .. 'lane:' .. lane, '') then return end
  end
  for _, key in ipairs(call('SMEMBERS', K .. 'lines')) do
    if not add(line_key(key), 'L') then return end
  end
  for id, many in pairs(tombs) do
    local most = times[id] or 0
    if most < many then
      if most == 0 then call('HDEL', K .. 'tombs', id) else call('HSET', K .. 'tombs', id, most) end
      mended()
    end
  end
end

-- Counts ------------------------------------------------------------------------------------

local function held_sum()
  local held = 0
  for _, holder in ipairs(call('ZRANGE', K .. 'leases', 0, -1)) do
    held = held + call('HLEN', K .. 'held:' .. holder)
  end
  return held
end

-- An epoch that was handed out must not be handed out again. No store has made as many leases as
-- milliseconds have gone by.
local function mend_epoch(epoch)
  local highest = 0
  for _, holder in ipairs(call('ZRANGE', K .. 'leases', 0, -1)) do
    for _, one in ipairs(held_by(holder)) do highest = math.max(highest, one[3]) end
  end
  if epoch < highest then
    count('epoch', math.max(now, highest) - epoch)
    mended()
  end
end

local function mend_later(scheduled, retrying)
  local waiting, later = { s = 0, r = 0 }, call('ZCARD', K .. 'later')
  if LANES_MAX < later then
    -- Too many to look at each; the sum is what others reckon with.
    waiting = { s = later - retrying, r = retrying }
  else
    for _, member in ipairs(call('ZRANGE', K .. 'later', 0, -1)) do
      local letter = string.sub(member, 33, 33) == 'r' and 'r' or 's'
      waiting[letter] = waiting[letter] + 1
    end
  end
  count('scheduled', waiting.s - scheduled)
  count('retrying', waiting.r - retrying)
  mended()
end

local ZSETS = { 'blocked', 'done', 'dead', 'quarantined', 'cancelled' }

-- Puts the counts right, and says how many jobs are in places and whether these make sense.
local function reckon()
  local fields = { 'ready', 'running', 'scheduled', 'retrying', 'epoch', unpack(ZSETS) }
  local counts = {}
  for i, number in ipairs(call('HMGET', K .. 'counts', unpack(fields))) do
    counts[fields[i]] = tonumber(number or '0')
  end
  local function believe(state, real)
    if counts[state] == real then return end
    count(state, real - counts[state])
    mended()
  end
  local aside, lined = call('SCARD', K .. 'aside'), standing_in_lines()
  local ready, running = standing_in_lanes() + aside, held_sum()
  local later, marked, sum = call('ZCARD', K .. 'later'), 0, 0
  believe('ready', ready)
  if counts.running ~= running then mend_epoch(counts.epoch) end
  believe('running', running)
  if later ~= counts.scheduled + counts.retrying then
    mend_later(counts.scheduled, counts.retrying)
  end
  local sizes = {}
  for _, state in ipairs(ZSETS) do
    sizes[state] = call('ZCARD', K .. 'in:' .. state)
    marked = marked + sizes[state]
    believe(state, sizes[state])
  end
  if 0 < sizes.blocked and not conf.deps then
    set_conf('deps', true)
    mended()
  end
  sizes.later = later
  local kept_badly = marked - sizes.blocked - sizes.done ~= call('ZCARD', K .. 'until:dead')
    or sizes.done ~= call('ZCARD', K .. 'until:done')
  local whole = not kept_badly and later + marked <= call('HLEN', K .. 'marks')
    and (lined == nil or lined == aside)
    -- Whatever ran and is lost may have left its key taken.
    and counts.running == running
  return ready + running + later + marked, whole, sizes
end

-- Jobs --------------------------------------------------------------------------------------

local held, sizes = {}, nil

-- What is held, and how often each key runs; false when that is too much to look through.
local function read_held()
  local running = {}
  for _, holder in ipairs(call('ZRANGE', K .. 'leases', 0, -1)) do
    room = room - call('HLEN', K .. 'held:' .. holder)
    if room < 0 then return false end
    for _, one in ipairs(held_by(holder)) do
      held[one[1]] = true
      local text = unheld(one[1], one[2]).text
      local key = text and head_of(text).key or ''
      if key ~= '' then running[key] = (running[key] or 0) + 1 end
    end
  end
  local keys = call('HGETALL', K .. 'keys')
  for i = 1, #keys, 2 do
    local key, many = keys[i], running[keys[i]] or 0
    if many < tonumber(keys[i + 1]) then
      if many == 0 then call('HDEL', K .. 'keys', key) else call('HSET', K .. 'keys', key, many) end
      set_conf('raised', true) -- the next sweep lets go on what waits for this key
      mended()
    end
  end
  return true
end

-- The state that a set or `later` says of a job whose mark was lost.
local function said_elsewhere(id, mark, head)
  for _, state in ipairs(ZSETS) do
    if 0 < sizes[state] and call('ZSCORE', K .. 'in:' .. state, id) then
      mark.s, mark.dep, mark.en = state, mark.dep or 's', mark.en or now
      return true
    end
  end
  if sizes.later == 0 then return false end
  for _, letter in ipairs({ 's', 'r' }) do
    local due = call('ZSCORE', K .. 'later', id .. letter .. head.p .. head.t)
    if due then
      mark.w, mark.due = letter, tonumber(due)
      return true
    end
  end
  return false
end

-- What a blocked job waits for must exist, must not have ended, and must know of it.
local function mend_blocked(id, mark, head)
  local needs = call('SCARD', K .. 'needs:' .. id)
  if needs == 0 then
    unblocked(id, mark, head)
    mended()
  end
  if needs == 0 or NEEDS_MAX < needs then return needs end
  for _, other in ipairs(call('SMEMBERS', K .. 'needs:' .. id)) do
    local added = call('SADD', K .. 'after:' .. other, id)
    local known, state = call('HEXISTS', K .. 'jobs', other) == 1, mark_of(other).s
    if not known or ENDED[state] then
      local why = 'dependency ' .. other .. ' ended ' .. (state or 'unseen')
      told[#told + 1] = { other, not known or state == 'done', why }
      added = 1
    end
    if added == 1 then mended() end
  end
  tell_all()
  return needs
end

local function mend_marked(id, mark, head)
  local state = mark.s
  if call('ZADD', K .. 'in:' .. state, 0, id) == 1 then
    count(state, 1)
    mended()
  end
  if state == 'blocked' then
    mend_blocked(id, mark, head)
    return
  end
  local key = state == 'done' and 'until:done' or 'until:dead'
  if not call('ZSCORE', K .. key, id) then
    call('ZADD', K .. key, (mark.en or now) + (state == 'done' and head.keep or 0), id)
    mended()
  end
end

-- When a search has seen a lane empty, by the lane's key.
local seen_empty = {}

-- Nowhere: it goes where it was waiting for its time, else to the tail of its lane.
local function bring_back(id, mark, head)
  mended()
  if mark.x then
    ended(id, head, mark, 'cancelled')
    tell_all()
  elseif mark.w and now < (mark.due or 0) then
    delay(id, mark, head, mark.w == 's' and 'scheduled' or 'retrying')
  else
    -- In a lane that was empty, the mark says that this one was brought back already.
    if seen_empty[lane_key(head.p, head.t)] then
      mark.b = now
      save(id, mark)
    end
    push_tail(next(mark) and id .. '*' or id, head)
    count('ready', 1)
  end
end

-- A lane with jobs that neither lengths nor rings spoke of.
local function meet_lane(p, t)
  local lane = p .. ':' .. t
  if t ~= '' then meet_tenants() end
  if not conf.tenants or call('HEXISTS', K .. 'lens', lane) == 1 then return end
  local live = live_in(lane)
  if live == 0 then return end
  meet_priority(p)
  call('HSET', K .. 'lens', lane, live)
  call('RPUSH', K .. 'ring:' .. p, t)
  count('ready', live)
  mended()
end

local met = {}
local function meet(key, head)
  if met[key] then return end
  met[key] = true
  meet_lane(head.p, head.t)
  if call('LLEN', key) == 0 then
    seen_empty[key] = now
    call('HSET', K .. 'repair', key, now)
  else
    seen_empty[key] = tonumber(call('HGET', K .. 'repair', key) or nil)
  end
end

-- Of a lane that is refilled there is soon too much to look through. What came before it was empty
-- and bears no mark is not in it: whatever comes back to a lane is marked.
local function in_lane(id, head, mark, came_at)
  local key = lane_key(head.p, head.t)
  meet(key, head)
  if not entries_of(key) and not next(mark) and head.key == '' then
    return (seen_empty[key] or 0) <= came_at
  end
  return stands(key, '', id)
end

local function in_line(id, head)
  if head.key == '' then return false end
  if not stands(line_key(head.key), 'L', id) then return false end
  if call('SADD', K .. 'lines', head.key) == 1 then mended() end
  if call('SADD', K .. 'aside', id) == 1 then
    count('ready', 1)
    mended()
  end
  return true
end

local function mend_job(id, body, mark_text)
  local head, mark = head_of(head_text(body)), mark_in(mark_text)
  -- It may have been told of an end since its page was read.
  if mark.s == 'blocked' then mark = mark_of(id) end
  if mark.s then return mend_marked(id, mark, head) end
  if held[id] then return end
  if mark.w and call('ZSCORE', K .. 'later', later_member(id, mark, head)) then return end
  local came_at = tonumber(string.sub(body, 1, 14)) or now
  if in_lane(id, head, mark, came_at) or in_line(id, head) then return end
  if said_elsewhere(id, mark, head) then
    save(id, mark)
    mended()
    if mark.s then mend_marked(id, mark, head) end
    return
  end
  bring_back(id, mark, head)
end

-- Who is set aside stands in the line of its key.
local function mend_aside()
  if LANES_MAX < call('SCARD', K .. 'aside') then return end
  for _, id in ipairs(call('SMEMBERS', K .. 'aside')) do
    local body = call('HGET', K .. 'jobs', id)
    local key = head_of(head_text(body)).key
    if not body or key == '' or not stands(line_key(key), 'L', id) then
      call('SREM', K .. 'aside', id)
      count('ready', -1)
      mended()
    end
  end
end

-- Ghosts and doubles: entries whose job is gone, has ended or is somewhere else as well.
local function lay_ghosts(sum)
  if JOBS_MAX < sum then return end
  local there = {}
  for id in pairs(held) do there[id] = true end
  local function fine(id)
    local known = call('HEXISTS', K .. 'jobs', id) == 1
    local alone = known and not there[id]
    there[id] = true
    if not known and not held[id] then call('HDEL', K .. 'marks', id) end
    if not alone then mended() end
    return alone
  end
  for _, state in ipairs(ZSETS) do
    for _, id in ipairs(call('ZRANGE', K .. 'in:' .. state, 0, -1)) do
      if not fine(id) then
        call('ZREM', K .. 'in:' .. state, id)
        call('ZREM', K .. (state == 'done' and 'until:done' or 'until:dead'), id)
        call('DEL', K .. 'needs:' .. id)
        count(state, -1)
      end
    end
  end
  for _, member in ipairs(call('ZRANGE', K .. 'later', 0, -1)) do
    if not fine(string.sub(member, 1, 32)) then
      call('ZREM', K .. 'later', member)
      count(string.sub(member, 33, 33) == 'r' and 'retrying' or 'scheduled', -1)
    end
  end
  return fine
end

local function lay_ghosts_in_lanes(fine)
  local function astray(id, key)
    local body = call('HGET', K .. 'jobs', id)
    local head = head_of(head_text(body))
    local here = not body or key == lane_key(head.p, head.t) or key == line_key(head.key)
    if not here then mended() end
    return not here
  end
  local function pass(key, prefix, drop)
    local passed = {}
    for _, entry in ipairs(call('LRANGE', key, 0, -1)) do
      local id = string.sub(entry, 1, 32)
      if (passed[id] or 0) < (tombs[prefix .. id] or 0) then
        passed[id] = (passed[id] or 0) + 1
      elseif astray(id, key) or not fine(id) then
        call('LREM', key, -1, entry)
        drop(id)
        count('ready', -1)
      end
    end
  end
  for _, lane in ipairs(lanes_in_order()) do
    local p, t = string.sub(lane, 1, 1), string.sub(lane, 3)
    pass(K .. 'lane:' .. lane, '', function() lane_lost(p, t) end)
  end
  for _, key in ipairs(call('SMEMBERS', K .. 'lines')) do
    pass(line_key(key), 'L', function(id) call('SREM', K .. 'aside', id) end)
  end
end

-- Looks at the jobs, a part with each sweep. Answers where the next one goes on; 0 is the end. How
-- large the jobs are is not known before: the pages begin small, and grow while they are light.
local function search(cursor)
  local jobs, bytes, page_max = 0, 0, 10
  repeat
    local page = call('HSCAN', K .. 'jobs', cursor, 'COUNT', page_max)
    local before, ids = bytes, {}
    cursor = page[1]
    for i = 1, #page[2], 2 do ids[#ids + 1] = page[2][i] end
    local marks = fetched(K .. 'marks', ids)
    for i, id in ipairs(ids) do
      mend_job(id, page[2][i * 2], marks[i])
      bytes = bytes + #page[2][i * 2]
    end
    jobs = jobs + #ids
    page_max = bytes - before < 1048576 and math.min(page_max * 2, 1000) or 10
  until cursor == '0' or JOBS_MAX <= jobs or BYTES_MAX <= bytes
  return cursor
end

-- A few blocked jobs with each sweep, in turn: what they wait for is counted nowhere.
local function look_at_blocked(limit)
  if sizes.blocked == 0 then return end
  local from = call('HGET', K .. 'repair', 'blocked')
  local ids = call('ZRANGE', K .. 'in:blocked', from and '(' .. from or '-', '+', 'BYLEX',
    'LIMIT', 0, 100)
  local looked, last = 0, nil
  for _, id in ipairs(ids) do
    if limit <= looked then break end
    local body, mark = call('HGET', K .. 'jobs', id), mark_of(id)
    if body and mark.s == 'blocked' then
      looked = looked + mend_blocked(id, mark, head_of(head_text(body)))
    end
    looked, last = looked + 1, id
  end
  if last and last ~= ids[#ids] or #ids == 100 then
    call('HSET', K .. 'repair', 'blocked', last)
  elseif from then
    call('HDEL', K .. 'repair', 'blocked')
  end
end

local function repair(limit)
  mend_holders()
  if not read_tombs() then return repaired end
  local sum, whole
  sum, whole, sizes = reckon()
  look_at_blocked(limit)
  local known = call('HMGET', K .. 'repair', 'scan', 'rest')
  local jobs = call('HLEN', K .. 'jobs')
  if whole and sum == jobs then
    if known[1] or known[2] then call('DEL', K .. 'repair') end
    return repaired
  end
  local rest = tonumber(known[2] or '0')
  if now < rest and rest <= now + REST then return repaired end
  write()
  if not read_held() then
    call('HSET', K .. 'repair', 'rest', now + REST)
    return repaired
  end
  looked_through, room = {}, LANES_MAX
  mend_tombs()
  read_tombs()
  mend_aside()
  if jobs < sum then
    local fine = lay_ghosts(sum)
    if fine then lay_ghosts_in_lanes(fine) end
    looked_through, room = {}, LANES_MAX
  end
  local cursor = search(known[1] or '0')
  write()
  if cursor ~= '0' then
    call('HSET', K .. 'repair', 'scan', cursor, 'rest', now + PAUSE)
    return repaired
  end
  read_tombs()
  sum, whole = reckon()
  call('DEL', K .. 'repair')
  if not whole or sum ~= call('HLEN', K .. 'jobs') then
    call('HSET', K .. 'repair', 'rest', now + REST)
  end
  return repaired
end
