-- ARGV: time, command, and what the command needs.
local command = ARGV[2]

local function body_head(id)
  local body = call('HGET', K .. 'jobs', id)
  return body and head_of(head_text(body))
end

-- Takes a job out of whatever it waits in.
local function stop_waiting(id, mark, head, state)
  if state == 'scheduled' or state == 'retrying' then
    call('ZREM', K .. 'later', later_member(id, mark, head))
    count(state, -1)
  end
  if state ~= 'ready' then return end
  count('ready', -1)
  if call('SREM', K .. 'aside', id) == 1 then
    call('HINCRBY', K .. 'tombs', 'L' .. id, 1)
    set_conf('tombs', true)
    return
  end
  local was_freed = false
  for i = #freed, 1, -1 do
    if string.sub(freed[i][1], 1, 32) == id then
      table.remove(freed, i)
      was_freed = true
    end
  end
  if not was_freed then
    bury(id)
    lane_lost(head.p, head.t)
  end
  -- Perhaps it was the one that had been let go on for its key.
  local key = head.key
  if key ~= '' and call('SISMEMBER', K .. 'lines', key) == 1 and not key_full(key) then
    free_line(key)
  end
end

local function revive(id)
  local head, mark = body_head(id), mark_of(id)
  if not head then return false end
  local state = state_of(id, mark, head)
  if state == 'scheduled' or state == 'retrying' then
    stop_waiting(id, mark, head, state)
  elseif state == 'dead' or state == 'quarantined' or state == 'cancelled' then
    call('ZREM', K .. 'in:' .. state, id)
    call('ZREM', K .. 'until:dead', id)
    count(state, -1)
  else
    return false
  end
  mark.s, mark.en, mark.w, mark.a, mark.c, mark.due = nil, nil, nil, nil, nil, now
  save(id, mark)
  push_tail(id .. '*', head)
  count('ready', 1)
  return true
end

-- A running job's holder is told when it renews; its settlement must take the slower path.
local function ask_to_stop(id, mark, holder, value)
  if mark.x then return false end
  mark.x = 1
  save(id, mark)
  call('SADD', K .. 'stop:' .. holder, id)
  if not string.find(value, '+', 1, true) then
    local text = head_text(call('HGET', K .. 'jobs', id))
    call('HSET', K .. 'held:' .. holder, id, value .. '+' .. text)
  end
  return true
end

local function cancel(id)
  local head, mark = body_head(id), mark_of(id)
  if not head then return false end
  local state, holder, value = state_of(id, mark, head)
  if state == 'running' then return ask_to_stop(id, mark, holder, value) end
  if ENDED[state] then return false end
  stop_waiting(id, mark, head, state)
  ended(id, head, mark, 'cancelled')
  tell_all()
  return true
end

local function delete(id)
  local head, mark = body_head(id), mark_of(id)
  if not head then return false end
  local state = state_of(id, mark, head)
  if state == 'running' then return false end
  stop_waiting(id, mark, head, state)
  forget(id, head, mark)
  if conf.deps then
    told[#told + 1] = { id, state == 'done', 'dependency ' .. id .. ' was deleted' }
    tell_all()
  end
  return true
end

local concerned = 0
local function each(does)
  if ARGV[3] == 'ids' then
    for i = 4, #ARGV do
      if does(ARGV[i]) then concerned = concerned + 1 end
    end
    return
  end
  local state, most, ids = ARGV[4], tonumber(ARGV[5]), {}
  -- Only what is cancelled while it runs may be met twice, so only then is more looked at.
  local enough = state == 'running' and math.huge or most
  walk(state, function(id)
    ids[#ids + 1] = id
    return enough <= #ids
  end)
  for _, id in ipairs(ids) do
    if most <= concerned then break end
    if does(id) then concerned = concerned + 1 end
  end
end

-- Forgets jobs that wait, at most so many; nobody is told.
local function purge(most)
  local function gone(id, state)
    local head = body_head(id)
    if head then forget(id, head, mark_of(id)) end
    if state ~= 'blocked' then count(state, -1) end
    concerned = concerned + 1
  end
  for _, lane in ipairs(lanes_in_order()) do
    local p, t = string.sub(lane, 1, 1), string.sub(lane, 3)
    while concerned < most do
      local entry = call('LPOP', lane_key(p, t))
      if not entry then break end
      local id = string.sub(entry, 1, 32)
      if not is_tomb(id) then
        gone(id, 'ready')
        lane_lost(p, t)
      end
    end
  end
  for _, key in ipairs(call('SMEMBERS', K .. 'lines')) do
    while concerned < most do
      local entry = call('LPOP', line_key(key))
      if not entry then
        call('SREM', K .. 'lines', key)
        break
      end
      local id = string.sub(entry, 1, 32)
      if not is_tomb('L' .. id) then
        call('SREM', K .. 'aside', id)
        gone(id, 'ready')
      end
    end
  end
  for _, member in ipairs(call('ZRANGE', K .. 'later', 0, most - concerned - 1)) do
    call('ZREM', K .. 'later', member)
    gone(string.sub(member, 1, 32), string.sub(member, 33, 33) == 's' and 'scheduled' or 'retrying')
  end
  if concerned < most then
    for _, id in ipairs(call('ZRANGE', K .. 'in:blocked', 0, most - concerned - 1)) do
      gone(id, 'blocked')
    end
  end
end

if command == 'pause' then
  set_conf('paused', true)
elseif command == 'resume' then
  set_conf('paused', nil)
  woken = true
elseif command == 'rules' then
  local rules = cjson.decode(ARGV[3])
  local before = conf.key_max or math.huge
  for _, name in ipairs({ 'running_max', 'key_max', 'rate_each', 'rate_jobs', 'weights',
    'tenant_weights', 'waiting_max', 'dead_max', 'dead_keep', 'done_max', 'limits' }) do
    conf[name] = rules[name]
  end
  conf_changed = true
  if before < (conf.key_max or math.huge) then conf.raised = true end
  call('SET', K .. 'rules', ARGV[4])
  woken = true
elseif command == 'purge' then
  purge(tonumber(ARGV[3]))
elseif command == 'revive' then
  each(revive)
elseif command == 'cancel' then
  each(cancel)
else
  each(delete)
end
finish()
return concerned
