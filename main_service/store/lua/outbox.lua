-- A released group leaves through the outbox, an entry a party: a stream whose ids count up without gaps.

-- a[first], a[first + 1], …: name of a party, its records
local function outbox_add(prefix, epoch, number, a, first)
  for i = first, #a, 2 do
    local cursor = redis.call('INCR', prefix .. ':outbox:n')
    redis.call('XADD', prefix .. ':outbox', cursor .. '-0', 'party', a[i], 'e', epoch, 'n', number, 'r', a[i + 1])
  end
end
