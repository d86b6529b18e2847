-- One by one: each job sees those before it.
local step = mode == 'P' and 2 or 3

-- Who stands in the way of a submit with this unique key.
local function taken_by(taken, head)
  if not taken then return nil end
  local kind = string.sub(taken, 33, 33)
  local stands = true
  if kind == 'f' then
    stands = now < tonumber(string.sub(taken, 34))
  elseif kind == 'a' and string.sub(head.span, 1, 1) == 'a' then
    -- Twenty digits each: they compare as texts, and doubles would be too small for them.
    stands = string.sub(head.span, 2) <= string.sub(taken, 34)
  end
  return stands and string.sub(taken, 1, 32) or nil
end

-- Who has a unique key until it ends; one that is gone will never end, and one that could not be
-- read has ended without saying which key it had.
local function owned(taken)
  if not taken or string.sub(taken, 33, 33) ~= 'u' then return taken end
  local id = string.sub(taken, 1, 32)
  return call('HEXISTS', K .. 'jobs', id) == 1 and not ENDED[mark_of(id).s] and taken
end

local function as_taken(id, head)
  local span = head.span
  if string.sub(span, 1, 1) == 'f' then
    span = string.format('f%d', now + tonumber(string.sub(span, 2)))
  end
  return id .. span
end

-- How many of the jobs are new, found out without writing anything.
local function new_ones()
  local new, known, uniques = 0, {}, {}
  for i = 4, #ARGV, step do
    local id, head = ARGV[i], head_of(head_text(stamp .. ARGV[i + 1]))
    local there = known[id] or call('HEXISTS', K .. 'jobs', id) == 1
    if not there and head.span ~= '' then
      there = taken_by(uniques[head.ukey] or owned(call('HGET', K .. 'unique', head.ukey)), head)
      if not there then uniques[head.ukey] = as_taken(id, head) end
    end
    if not there then new = new + 1 end
    known[id] = true
  end
  return new
end

-- A full queue refuses the whole call, so this comes before anything is written.
if waiting_max < call('HLEN', K .. 'jobs') + (#ARGV - 3) / step then
  local waiting = call('HLEN', K .. 'jobs')
  for _, some in ipairs(call('HMGET', K .. 'counts', 'done', 'dead', 'quarantined', 'cancelled')) do
    waiting = waiting - tonumber(some or '0')
  end
  local new = new_ones()
  if 0 < new and waiting_max < waiting + new then
    if 1 < joined then return { 'split' } end
    return { 'full', waiting, waiting_max }
  end
end

-- Which of those it waits for have not ended, or which ended badly.
local function dependencies(id, after, dependence)
  local open = {}
  for at = 1, #after, 32 do
    local other = string.sub(after, at, at + 31)
    -- Itself it need not wait for: it was unknown when it came.
    if other ~= id and call('HEXISTS', K .. 'jobs', other) == 1 then
      local state = mark_of(other).s
      if not ENDED[state] then
        open[#open + 1] = other
      elseif state ~= 'done' and dependence == 's' then
        return {}, 'dependency ' .. other .. ' ended ' .. state
      end
    end
  end
  return open, nil
end

local function block(id, mark, open)
  mark.s = 'blocked'
  save(id, mark)
  set_conf('deps', true)
  chunked('SADD', K .. 'needs:' .. id, open)
  for _, other in ipairs(open) do call('SADD', K .. 'after:' .. other, id) end
  call('ZADD', K .. 'in:blocked', 0, id)
  count('blocked', 1)
end

-- What a job waits for: text such as `a5000;s` and ids, for "5 s from now, after these end well".
local function place(id, head, extra)
  local kind, due, dependence, after = string.match(extra, '^(%a)(%d*);(%a?)(%x*)$')
  due = tonumber(due) or 0
  if kind == 'a' then due = now + due end
  if due < now then due = now end
  local mark = { due = due, dep = dependence }
  local open, bad = dependencies(id, after, dependence)
  if bad then
    mark.er = bad
    ended(id, head, mark, 'dead')
  elseif 0 < #open then
    block(id, mark, open)
  elseif now < due then
    delay(id, mark, head, 'scheduled')
  else
    push_tail(id, head)
    count('ready', 1)
  end
end

local function take_unique(id, head)
  local taken = as_taken(id, head)
  call('HSET', K .. 'unique', head.ukey, taken)
  if string.sub(taken, 33, 33) == 'f' then
    call('ZADD', K .. 'unique:until', string.sub(taken, 34), head.ukey)
  end
end

local answers, new = {}, 0
for i = 4, #ARGV, step do
  local id, body = ARGV[i], stamp .. ARGV[i + 1]
  local head = head_of(head_text(body))
  local other = call('HEXISTS', K .. 'jobs', id) == 1 and id
  if not other and head.span ~= '' then
    other = taken_by(owned(call('HGET', K .. 'unique', head.ukey)), head)
  end
  answers[#answers + 1] = other or ''
  if not other then
    new = new + 1
    call('HSET', K .. 'jobs', id, body)
    if head.span ~= '' then take_unique(id, head) end
    place(id, head, step == 3 and ARGV[i + 2] ~= '' and ARGV[i + 2] or 'n;')
    tell_all()
  end
end
count('t.submitted', new)
count('t.existing', #answers - new)
finish()
local total = call('HGET', K .. 'counts', 't.submitted')
return { 'each', answers, tonumber(total) == new and 2 or 1 }
