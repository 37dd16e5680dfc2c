-- Steps that join the request path and the pool.

-- Named fields: settings, what pool_submit takes (id: the session), version (of the consent); salt of SUPPRESSED
local function ms_log(keys, a)
  local f = named(a)
  local p = open_pool(keys[1], f)
  if not settle_pending(p.prefix, f.id) then return {'duplicate'} end
  local why = not_allowed(p.prefix, f.person, f.version) or (p.closed and 'epoch_over')
  if why then
    not_logged(p.prefix, f.salt, f.id, 'general', why)
    return {why}
  end
  local outcome, formed = pool_submit(p, f)
  return {outcome, unpack(formed)}
end

-- Named fields: settings, prox_id, message (its hash), bundle, version, acknowledgement, ttl (s), salt, header, payload; then
--       audience kept…
local function ms_consent(keys, a)
  require_room(keys[1])
  local f, rows = named(a)
  local p, prox, version = open_pool(keys[1], f), f.prox_id, tonumber(f.version)
  local entry = mkey(p.prefix, 'c', prox)
  local stored = redis.call('HMGET', entry, 'v', 'h', 'a', 'at')
  if stored[2] == f.message then return {'SAME', stored[3], stored[4] or ''} end
  if version ~= tonumber(stored[1] or '0') + 1 then return {'STALE', ''} end
  redis.call('HSET', entry, 'b', f.bundle, 'v', version, 'h', f.message, 'a', f.acknowledgement)
  redis.call('EXPIRE', entry, f.ttl)
  local place = place_of(p.prefix, append_event(p.prefix, 'CONSENT', f.salt, f.header, f.payload))
  redis.call('HSET', entry, 'at', place)
  local keep = {}
  for i = rows, #a do keep[a[i]] = true end
  pool_withdraw(p, prox, keep)
  slots_withdraw(p.prefix, p.epoch, f.salt, prox, keep)
  split_withdraw(p.prefix, p.epoch, f.salt .. 's', prox, keep)
  return {'NEW', f.acknowledgement, place}
end

redis.register_function('ms_log', ms_log)
redis.register_function('ms_consent', ms_consent)
