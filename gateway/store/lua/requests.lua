-- The request path: nonces, rates, stored answers (DESIGN 5.2, 5.4). Keys and helpers are common.lua's.

-- Named fields: key_tag, nonce_tag, session, now (s), ttl (of the nonce, s), rate (requests a minute), salt, header, payload
local function gw_forward(keys, a)
  local prefix, f = keys[1], named(a)
  local owner, tag = redis.call('HMGET', key(prefix, 'k', f.key_tag), 'u', 'e'), f.key_tag
  local user = owner[1] or ''
  local found = redis.call('MGET', prefix .. ':events:full', key(prefix, 'x', user), key(prefix, 'u', user, owner[2] or ''),
    key(prefix, 'n', f.nonce_tag), key(prefix, 'ob', user))
  require_room(prefix, found[1])
  if user == '' or found[2] or found[3] ~= tag then return {'UNREGISTERED'} end
  if found[4] then
    if found[4] ~= f.session then return {'REPLAYED'} end
    local answer = redis.call('GET', key(prefix, 'a', f.session))
    if answer then return {'ANSWERED', answer} end
    return {'RETRY'}
  end
  -- The main service may take up again what is asked, and the log does not say so yet.
  if found[5] and redis.call('HGET', key(prefix, 'oj', user), 'o') == '0' then return {'OWED'} end
  local window = key(prefix, 'r', user, math.floor(tonumber(f.now) / 60))
  local asked = redis.call('INCR', window)
  if asked > tonumber(f.rate) then return {'RATE'} end
  local time = redis.call('TIME')
  local now = tonumber(time[1])
  local ends = now + tonumber(f.ttl) + 1
  redis.call('SET', key(prefix, 'n', f.nonce_tag), f.session, 'EX', f.ttl)
  if asked == 1 then  -- the person's first in this minute
    redis.call('EXPIRE', window, 120)
    forget_ended(prefix, user, now)
    enter(prefix, user, ends, 'n:' .. f.nonce_tag, window:sub(#prefix + 2))
  else enter(prefix, user, ends, 'n:' .. f.nonce_tag) end
  redis.call('ZADD', key(prefix, 'open'), f.now, f.session)
  append_event(prefix, 'FORWARDED', f.salt, f.header, f.payload, time)
  return {'NEW'}
end

-- Named fields: session, user_tag, answer, ttl (s), salt, header, payload. The first answer stays; nothing is returned to whoever
-- brought it. For somebody who was erased meanwhile nothing is kept, and the log says no more than that MS may have it.
local function gw_answered(keys, a)
  local prefix, f = keys[1], named(a)
  local found = redis.call('MGET', key(prefix, 'a', f.session), key(prefix, 'e', f.user_tag))
  if found[1] then return found[1] end
  local open = redis.call('ZREM', key(prefix, 'open'), f.session) == 1
  if not found[2] then
    if open then append_event(prefix, 'UNREACHED', f.salt, f.header, '') end
    return false
  end
  local time = redis.call('TIME')
  redis.call('SET', key(prefix, 'a', f.session), f.answer, 'EX', f.ttl)
  enter(prefix, f.user_tag, tonumber(time[1]) + tonumber(f.ttl) + 1, 'a:' .. f.session)
  append_event(prefix, 'ANSWERED', f.salt, f.header, f.payload, time)
  return false
end

-- ARGV: session, salt, header. Says that MS may never have got it; a later retry may still be answered.
local function gw_unreached(keys, a)
  local prefix = keys[1]
  if redis.call('ZREM', key(prefix, 'open'), a[1]) == 0 then return 0 end
  append_event(prefix, 'UNREACHED', a[2], a[3], '')
  return 1
end

-- ARGV: session. MS has answered with a refusal, which its own log holds.
local function gw_settled(keys, a)
  return redis.call('ZREM', key(keys[1], 'open'), a[1])
end

-- ARGV: limit, latest time, earliest. Sessions that were forwarded in between and are not settled.
local function gw_open(keys, a)
  return redis.call('ZRANGE', key(keys[1], 'open'), a[3], a[2], 'BYSCORE', 'LIMIT', 0, a[1])
end

-- ARGV: salt, header; of a person payload and name of the evidence key, without which (the person was erased) nobody is named
local function gw_refused(keys, a)
  local named = a[4] and redis.call('EXISTS', a[4]) == 1
  return append_event(keys[1], 'REFUSED', a[1], a[2], named and a[3] or '')
end

redis.register_function('gw_forward', gw_forward)
redis.register_function('gw_answered', gw_answered)
redis.register_function('gw_unreached', gw_unreached)
redis.register_function('gw_settled', gw_settled)
reads('gw_open', gw_open)
redis.register_function('gw_refused', gw_refused)
