-- Steps that join the request path and the pool.

-- ARGV: settings, session, consent version, id, person, seasoned, audience, path, units, time, payload, header, event,
--       salt, header if the consent changed meanwhile, header if the epoch is over
local function ms_log(keys, a)
  local s = SETTINGS
  local p, session = open_pool(keys[1], a), a[s + 1]
  if not settle_pending(p.prefix, session) then return {'duplicate'} end
  if not consent_unchanged(p.prefix, a[s + 4], a[s + 2]) then
    append_event(p.prefix, 'SUPPRESSED', a[s + 13], a[s + 14], '')
    count_withheld(p.prefix, 'general', 'consent_changed')
    return {'consent_changed'}
  end
  if p.closed then
    append_event(p.prefix, 'SUPPRESSED', a[s + 13], a[s + 15], '')
    count_withheld(p.prefix, 'general', 'epoch_over')
    return {'epoch_over'}
  end
  local outcome, formed = pool_submit(p, a[s + 3], a[s + 4], a[s + 5], a[s + 6], a[s + 7], a[s + 8], tonumber(a[s + 9]),
    a[s + 10], a[s + 11], a[s + 12])
  return {outcome, unpack(formed)}
end

-- ARGV: settings, PROX_ID, message hash, bundle, version, acknowledgement, ttl s, salt, header, payload, audience kept…
local function ms_consent(keys, a)
  require_room(keys[1])
  local s = SETTINGS
  local p, prox, version = open_pool(keys[1], a), a[s + 1], tonumber(a[s + 4])
  local entry = mkey(p.prefix, 'c', prox)
  local stored = redis.call('HMGET', entry, 'v', 'h', 'a')
  if stored[2] == a[s + 2] then return {'SAME', stored[3]} end
  if version ~= tonumber(stored[1] or '0') + 1 then return {'STALE', ''} end
  redis.call('HSET', entry, 'b', a[s + 3], 'v', version, 'h', a[s + 2], 'a', a[s + 5])
  redis.call('EXPIRE', entry, a[s + 6])
  append_event(p.prefix, 'CONSENT', a[s + 7], a[s + 8], a[s + 9])
  local keep = {}
  for i = s + 10, #a do keep[a[i]] = true end
  pool_withdraw(p, prox, keep)
  slots_withdraw(p.prefix, p.epoch, a[s + 7], prox, keep)
  return {'NEW', a[s + 5]}
end

redis.register_function('ms_log', ms_log)
redis.register_function('ms_consent', ms_consent)
