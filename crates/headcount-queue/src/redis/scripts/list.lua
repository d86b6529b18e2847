-- ARGV: time, then `in`, the state, the place to begin at and how many; or `ids` and the ids.
local ids, more = {}, 0
if ARGV[2] == 'ids' then
  for i = 3, #ARGV do ids[#ids + 1] = ARGV[i] end
else
  local skip, limit = tonumber(ARGV[4]), tonumber(ARGV[5])
  walk(ARGV[3], function(id)
    if 0 < skip then
      skip = skip - 1
    elseif #ids < limit then
      ids[#ids + 1] = id
    else
      more = 1
    end
    return more == 1
  end)
end

local jobs = {}
for _, id in ipairs(ids) do
  local body = call('HGET', K .. 'jobs', id)
  if body then
    local text = call('HGET', K .. 'marks', id)
    local mark = mark_in(text)
    local state, holder, value = state_of(id, mark, head_of(head_text(body)))
    jobs[#jobs + 1] = {
      id, body, state, text or '', holder or '', value or '',
      mark.ck and call('HGET', K .. 'blobs', id .. 'c') or false,
      mark.rs and call('HGET', K .. 'blobs', id .. 'r') or false,
    }
  end
end
return { jobs, more }
