-- ARGV: time, holder, span of the lease, then id, epoch, progress and checkpoint of each note;
-- no progress is an empty text, and a checkpoint has a plus before it.
local holder, ttl = ARGV[2], tonumber(ARGV[3])
-- A lease that was lost though its holder was never given up: nobody has its jobs, so it goes on.
if not call('ZSCORE', K .. 'leases', holder) and call('SISMEMBER', K .. 'holders', holder) == 0 then
  return { 0, {}, {} }
end
local held = K .. 'held:' .. holder

local function note(id, epoch, progress, checkpoint)
  local value = call('HGET', held, id)
  if not value or string.sub(value, 1, #epoch + 1) ~= epoch .. '.' then return false end
  local mark = mark_of(id)
  if not string.find(value, '+', 1, true) then
    call('HSET', held, id, value .. '+' .. head_text(call('HGET', K .. 'jobs', id)))
  end
  if progress ~= '' then mark.pr = tonumber(progress) end
  if checkpoint ~= '' then keep_checkpoint(id, mark, string.sub(checkpoint, 2)) end
  save(id, mark)
  return true
end

local stale = {}
for i = 4, #ARGV, 4 do
  if not note(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]) then
    stale[#stale + 1] = ARGV[i]
    count('t.stale', 1)
  end
end
local cancel = {}
if ttl == 0 then
  call('ZREM', K .. 'leases', holder)
  call('SREM', K .. 'holders', holder)
  for _, one in ipairs(held_by(holder)) do
    local head, mark, cancelling = leave(holder, one[1], one[2])
    if cancelling then
      ended(one[1], head, mark, 'cancelled')
    else
      mark.p = (mark.p or 0) + 1
      count('t.preempted', 1)
      come_back(one[1], head, mark)
    end
  end
else
  call('ZADD', K .. 'leases', now + ttl, holder)
  cancel = call('SMEMBERS', K .. 'stop:' .. holder)
end
finish()
return { 1, cancel, stale }
