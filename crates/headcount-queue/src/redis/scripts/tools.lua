-- What the slower paths share. Changes of counts, of `conf` and the wake-up are gathered and
-- written once, by `finish`.
conf = conf or { prios = '5' }
local delta, conf_changed, woken = {}, false, false
local ENDED = { done = true, dead = true, quarantined = true, cancelled = true }

local function count(field, by) delta[field] = (delta[field] or 0) + by end

local function set_conf(field, value)
  if conf[field] ~= value then
    conf[field] = value
    conf_changed = true
  end
end

-- The head of a stored job: what the scripts must know of its spec. A job with defaults has none.
local PLAIN = { p = '5', t = '', keep = 0, crashes = 3, key = '', span = '', ukey = '' }

-- A job that is gone has no head either: whoever meets it passes on, instead of failing for ever.
local function head_text(body)
  local from = body and string.find(body, '\n', 15, true)
  return from and string.sub(body, 16, from - 1) or ''
end

local function head_of(text)
  if text == '' then return PLAIN end
  local p, t, keep, crashes, key, span, ukey = string.match(text,
    '^(%d)\t([^\t]*)\t(%d*)\t(%d*)\t([^\t]*)\t([^\t]*)\t([^\t]*)$')
  -- Garbled: nothing of it is known.
  if not p then return PLAIN end
  return {
    p = p, t = t, keep = tonumber(keep) or 0, crashes = tonumber(crashes) or 3,
    key = key, span = span, ukey = ukey,
  }
end

-- A garbled mark says nothing, as a lost one does.
local function mark_in(text)
  if not text then return {} end
  local fine, mark = pcall(cjson.decode, text)
  return fine and type(mark) == 'table' and mark or {}
end

local function mark_of(id) return mark_in(call('HGET', K .. 'marks', id)) end

local function save(id, mark) call('HSET', K .. 'marks', id, cjson.encode(mark)) end

local function later_member(id, mark, head) return id .. mark.w .. head.p .. head.t end

-- Who holds a job, and the value under which. Looked up by holder: only operators ask for this.
local function holding(id)
  for _, holder in ipairs(call('ZRANGE', K .. 'leases', 0, -1)) do
    local value = call('HGET', K .. 'held:' .. holder, id)
    if value then return holder, value end
  end
  return nil
end

-- Where a job is says which state it is in; only what is nowhere else is said by its mark.
local function state_of(id, mark, head)
  if mark.s then return mark.s end
  if mark.w and call('ZSCORE', K .. 'later', later_member(id, mark, head)) then
    return mark.w == 's' and 'scheduled' or 'retrying'
  end
  local holder, value = holding(id)
  if holder then return 'running', holder, value end
  return 'ready'
end

-- Lanes ------------------------------------------------------------------------------------

local function lane_key(p, t) return K .. 'lane:' .. p .. ':' .. t end

-- Rings and the lengths of lanes are kept only once a queue has seen a tenant.
local function meet_tenants()
  if conf.tenants then return end
  set_conf('tenants', true)
  for p in string.gmatch(conf.prios, '%d') do
    local entries = call('LRANGE', lane_key(p, ''), 0, -1)
    local live, seen = #entries, {}
    for _, entry in ipairs(conf.tombs and entries or {}) do
      local id = string.sub(entry, 1, 32)
      -- An id may stand behind its own tombstone.
      if not seen[id] then live = live - tonumber(call('HGET', K .. 'tombs', id) or '0') end
      seen[id] = true
    end
    if 0 < live then
      call('RPUSH', K .. 'ring:' .. p, '')
      call('HSET', K .. 'lens', p .. ':', live)
    end
  end
end

local function meet_priority(p)
  if not string.find(conf.prios, p, 1, true) then
    local all = {}
    for digit in string.gmatch(conf.prios .. p, '%d') do all[#all + 1] = digit end
    table.sort(all)
    set_conf('prios', table.concat(all))
  end
end

local function push(entry, head, command)
  local p, t = head.p, head.t
  if t ~= '' then meet_tenants() end
  meet_priority(p)
  call(command, lane_key(p, t), entry)
  if conf.tenants and call('HINCRBY', K .. 'lens', p .. ':' .. t, 1) == 1 then
    call('RPUSH', K .. 'ring:' .. p, t)
  end
  woken = true
end

local function push_tail(entry, head) push(entry, head, 'RPUSH') end
local function push_head(entry, head) push(entry, head, 'LPUSH') end

-- One job fewer in a lane that keeps count. A lane without jobs leaves the ring; what is still
-- in its list are tombstones, and they go with it.
local function lane_lost(p, t)
  if not conf.tenants then return end
  if 0 < call('HINCRBY', K .. 'lens', p .. ':' .. t, -1) then return end
  call('HDEL', K .. 'lens', p .. ':' .. t)
  if call('LINDEX', K .. 'ring:' .. p, 0) == t then call('HDEL', K .. 'credit', p) end
  call('LREM', K .. 'ring:' .. p, 1, t)
  for _, entry in ipairs(call('LRANGE', lane_key(p, t), 0, -1)) do
    local id = string.sub(entry, 1, 32)
    if call('HINCRBY', K .. 'tombs', id, -1) <= 0 then call('HDEL', K .. 'tombs', id) end
  end
  call('DEL', lane_key(p, t))
end

-- An entry that must be passed over: its job was taken out of the lane without looking for it.
local function bury(id)
  call('HINCRBY', K .. 'tombs', id, 1)
  set_conf('tombs', true)
end

local function is_tomb(id)
  if not conf.tombs or call('HEXISTS', K .. 'tombs', id) == 0 then return false end
  if call('HINCRBY', K .. 'tombs', id, -1) <= 0 then call('HDEL', K .. 'tombs', id) end
  return true
end

-- Keys of which only so many run ------------------------------------------------------------

local returned, freed = {}, {}

local function line_key(key) return K .. 'line:' .. key end

local function key_full(key)
  return conf.key_max and conf.key_max <= tonumber(call('HGET', K .. 'keys', key) or '0')
end

-- The first of a key's line that still waits may go on; it goes to the head of its lane at the
-- end of the call.
local function free_line(key)
  while true do
    local entry = call('LPOP', line_key(key))
    if not entry then
      call('SREM', K .. 'lines', key)
      return false
    end
    local id = string.sub(entry, 1, 32)
    if not is_tomb('L' .. id) then
      call('SREM', K .. 'aside', id)
      freed[#freed + 1] = { entry, head_of(head_text(call('HGET', K .. 'jobs', id))) }
      return true
    end
  end
end

local function key_ended(head)
  local key = head.key
  if key == '' then return end
  if call('HINCRBY', K .. 'keys', key, -1) <= 0 then call('HDEL', K .. 'keys', key) end
  if call('SISMEMBER', K .. 'lines', key) == 1 and not key_full(key) then free_line(key) end
end

-- What came back goes to the heads of its lanes in the order in which it came, and what became
-- free behind it.
local function put_back()
  for i = #freed, 1, -1 do push_head(freed[i][1], freed[i][2]) end
  for i = #returned, 1, -1 do push_head(returned[i][1], returned[i][2]) end
end

-- Ends --------------------------------------------------------------------------------------

local function free_unique(id, head)
  if head.span ~= 'u' then return end
  local taken = call('HGET', K .. 'unique', head.ukey)
  if taken and string.sub(taken, 1, 32) == id then call('HDEL', K .. 'unique', head.ukey) end
end

local function forget(id, head, mark)
  call('HDEL', K .. 'jobs', id)
  call('HDEL', K .. 'marks', id)
  if mark.ck or mark.rs then call('HDEL', K .. 'blobs', id .. 'c', id .. 'r') end
  if mark.s then
    count(mark.s, -1)
    call('ZREM', K .. 'in:' .. mark.s, id)
    if mark.s == 'blocked' then
      call('DEL', K .. 'needs:' .. id)
    else
      call('ZREM', K .. (mark.s == 'done' and 'until:done' or 'until:dead'), id)
    end
  end
  free_unique(id, head)
end

local TOTAL = { done = 't.done', dead = 't.died', quarantined = 't.quarantined',
  cancelled = 't.cancelled' }
local told = {}

-- Writes down that a job has ended. Those that wait for it are told by `tell_all`.
local function ended(id, head, mark, state)
  count(TOTAL[state], 1)
  if conf.deps then
    told[#told + 1] = { id, state == 'done', 'dependency ' .. id .. ' ended ' .. state }
  end
  if mark.s == 'blocked' then
    count('blocked', -1)
    call('ZREM', K .. 'in:blocked', id)
    call('DEL', K .. 'needs:' .. id)
    mark.s = nil
  end
  if state == 'done' and head.keep == 0 then
    forget(id, head, mark)
    return
  end
  mark.s, mark.en, mark.w, mark.x = state, now, nil, nil
  save(id, mark)
  count(state, 1)
  call('ZADD', K .. 'in:' .. state, 0, id)
  if state == 'done' then
    call('ZADD', K .. 'until:done', now + head.keep, id)
  else
    call('ZADD', K .. 'until:dead', now, id)
  end
  free_unique(id, head)
end

local function delay(id, mark, head, state)
  mark.w = state == 'scheduled' and 's' or 'r'
  save(id, mark)
  call('ZADD', K .. 'later', mark.due, later_member(id, mark, head))
  count(state, 1)
end

local function unblocked(id, mark, head)
  call('ZREM', K .. 'in:blocked', id)
  count('blocked', -1)
  mark.s = nil
  if now < (mark.due or 0) then
    delay(id, mark, head, 'scheduled')
  else
    mark.due = now
    save(id, mark)
    push_tail(id .. '*', head)
    count('ready', 1)
  end
end

-- A list, not a recursion: a chain of jobs that need each other may be long.
local function tell_all()
  local place = 1
  while told[place] do
    local id, well, error_text = unpack(told[place])
    place = place + 1
    local waiting = call('SMEMBERS', K .. 'after:' .. id)
    if 0 < #waiting then call('DEL', K .. 'after:' .. id) end
    table.sort(waiting)
    for _, other in ipairs(waiting) do
      if call('SREM', K .. 'needs:' .. other, id) == 1 then
        local mark, body = mark_of(other), call('HGET', K .. 'jobs', other)
        local head = head_of(head_text(body))
        if not body then
          mark.s = 'blocked'
          forget(other, head, mark)
          count('t.repaired', 1)
          call('HDEL', K .. 'counts', 'repair_at')
        elseif not well and mark.dep == 's' then
          mark.er = error_text
          ended(other, head, mark, 'dead')
        elseif call('EXISTS', K .. 'needs:' .. other) == 0 then
          unblocked(other, mark, head)
        end
      end
    end
  end
  told = {}
end

-- Returns ---------------------------------------------------------------------------------

-- A held job's value, taken apart: the epoch, when it was leased, its place, its head.
local function unheld(id, value)
  local epoch, started, place = string.match(value, '^(%d+)%.(%d+)%.(%d+)')
  local plus = string.find(value, '+', 1, true)
  local text = plus and string.sub(value, plus + 1)
  return {
    epoch = tonumber(epoch) or 0, place = tonumber(place) or 0, started = tonumber(started),
    text = text,
  }
end

-- Nobody holds the job any more, and its key is free for another.
local function leave(holder, id, value)
  local was = unheld(id, value)
  call('HDEL', K .. 'held:' .. holder, id)
  count('running', -1)
  local mark = was.text and mark_of(id) or {}
  local head = head_of(was.text or head_text(call('HGET', K .. 'jobs', id)))
  mark.st = was.started
  local cancelling = mark.x
  if cancelling then
    mark.x = nil
    call('SREM', K .. 'stop:' .. holder, id)
  end
  key_ended(head)
  return head, mark, cancelling
end

local function come_back(id, head, mark)
  save(id, mark)
  returned[#returned + 1] = { id .. '*', head }
  count('ready', 1)
end

-- What a holder holds, in the order in which it was handed out.
local function held_by(holder)
  local pairs_of, all = call('HGETALL', K .. 'held:' .. holder), {}
  for i = 1, #pairs_of, 2 do
    local was = unheld(pairs_of[i], pairs_of[i + 1])
    all[#all + 1] = { pairs_of[i], pairs_of[i + 1], was.epoch, was.place }
  end
  table.sort(all, function(a, b)
    if a[3] ~= b[3] then return a[3] < b[3] end
    return a[4] < b[4]
  end)
  return all
end

local function keep_checkpoint(id, mark, bytes)
  mark.ck = 1
  call('HSET', K .. 'blobs', id .. 'c', bytes)
end

-- Time --------------------------------------------------------------------------------------

-- Those whose time has come go to the tail of their lanes, by due time and then by id.
local function promote(limit)
  local due = call('ZRANGE', K .. 'later', '-inf', now, 'BYSCORE', 'LIMIT', 0, limit)
  if #due == 0 then return 0 end
  chunked('ZREM', K .. 'later', due)
  local lanes, order = {}, {}
  for _, member in ipairs(due) do
    local lane = string.sub(member, 34)
    if not lanes[lane] then
      lanes[lane] = {}
      order[#order + 1] = lane
    end
    local list = lanes[lane]
    list[#list + 1] = string.sub(member, 1, 32) .. '*'
    count(string.sub(member, 33, 33) == 's' and 'scheduled' or 'retrying', -1)
  end
  for _, lane in ipairs(order) do
    local p, t = string.sub(lane, 1, 1), string.sub(lane, 2)
    if t ~= '' then meet_tenants() end
    meet_priority(p)
    chunked('RPUSH', lane_key(p, t), lanes[lane])
    local many = #lanes[lane]
    if conf.tenants and call('HINCRBY', K .. 'lens', p .. ':' .. t, many) == many then
      call('RPUSH', K .. 'ring:' .. p, t)
    end
  end
  count('ready', #due)
  woken = true
  return #due
end

local function finish()
  tell_all()
  put_back()
  for field, by in pairs(delta) do
    if by ~= 0 then call('HINCRBY', K .. 'counts', field, by) end
  end
  if conf_changed then call('SET', K .. 'conf', cjson.encode(conf)) end
  if woken and not conf.paused then call('ZADD', K .. 'wake', 0, 'w') end
end
