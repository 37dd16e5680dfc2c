-- A released group leaves through the outbox, an entry a party: a stream whose ids count up without gaps. IS handles each
-- id once and none below it any more, so they begin with the time (ms): a store that was lost counts on above what it gave.

-- a[first], a[first + 1], …: name of a party, its records
local function outbox_add(prefix, epoch, number, a, first, audience)
  local now, counter = redis.call('TIME'), prefix .. ':outbox:n'
  redis.call('SET', counter, string.format('%s%03d', now[1], math.floor(now[2] / 1000)), 'NX')
  for i = first, #a, 2 do
    local cursor = redis.call('INCR', counter)
    redis.call('XADD', prefix .. ':outbox', string.format('%d-0', cursor), 'party', a[i], 'e', epoch, 'n', number, 'r', a[i + 1],
      'd', audience or '')
  end
end
