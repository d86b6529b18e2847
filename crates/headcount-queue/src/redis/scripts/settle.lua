-- One by one. What ended well and left no trace is only forgotten.
local function succeed(id, head, mark, flag, bytes)
  if 0 < head.keep and flag == '1' then
    mark.rs = 1
    call('HSET', K .. 'blobs', id .. 'r', bytes)
  end
  ended(id, head, mark, 'done')
end

local function fail(mark, text)
  mark.a = (mark.a or 0) + 1
  mark.er = text
end

local function comes_back(ending) return ending == 'r' or ending == 'l' or ending == 's' end

local function settle(holder, id, epoch, ending, span, flag, bytes)
  local value = call('HGET', K .. 'held:' .. holder, id)
  if not value or string.sub(value, 1, #epoch + 1) ~= epoch .. '.' then
    count('t.stale', 1)
    return 0
  end
  local head, mark, cancelling = leave(holder, id, value)
  if ending == 'c' or cancelling and comes_back(ending) then
    ended(id, head, mark, 'cancelled')
  elseif ending == 'd' then
    succeed(id, head, mark, flag, bytes)
  elseif ending == 'r' then
    fail(mark, bytes)
    count('t.failed', 1)
    mark.due = now + tonumber(span)
    delay(id, mark, head, 'retrying')
  elseif ending == 'x' then
    fail(mark, bytes)
    ended(id, head, mark, 'dead')
  elseif ending == 'q' then
    mark.er = bytes
    ended(id, head, mark, 'quarantined')
  elseif ending == 'l' then
    mark.p = (mark.p or 0) + 1
    count('t.preempted', 1)
    if flag == '1' then keep_checkpoint(id, mark, bytes) end
    come_back(id, head, mark)
  else
    mark.due = now + tonumber(span)
    if flag == '1' then keep_checkpoint(id, mark, bytes) end
    delay(id, mark, head, 'scheduled')
  end
  tell_all()
  return 1
end

local answers = {}
if ARGV[2] == 'D' then
  for epoch, many in string.gmatch(ARGV[4], '(%d+)%.(%d+)') do
    for i = #answers + 1, #answers + many do
      answers[i] = settle(ARGV[3], ARGV[4 + i], epoch, 'd', '0', '0', '')
    end
  end
else
  for i = 3, #ARGV, 7 do
    answers[#answers + 1] = settle(ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4],
      ARGV[i + 5], ARGV[i + 6])
  end
end
-- A slot that became free is news where slots are limited.
if conf.running_max then woken = true end
finish()
return answers
