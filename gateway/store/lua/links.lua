-- Epoch keys and whose they are, and the epochs' own keys (DESIGN 4.3, 10.2). Keys and helpers are common.lua's.

-- Whether a key is one of several that stand one after the other.
local function is_among(one, keys)
  for at = 1, #keys, #one do
    if keys:sub(at, at + #one - 1) == one then return true end
  end
  return false
end

-- What is known of person-epochs whose evidence keys are gone by themselves goes from their owner's list.
local function forget_expired(prefix, user)
  local subjects = key(prefix, 's', user)
  for _, subject in ipairs(redis.call('HKEYS', subjects)) do
    if redis.call('EXISTS', key(prefix, 'ek', subject)) == 0 then redis.call('HDEL', subjects, subject) end
  end
end

-- The PROX_ID of a person's key of an epoch; '' if there is none, or one has taken the place of another.
local function only_key(prefix, user, epoch)
  local found = {}
  for _, value in ipairs(redis.call('HVALS', key(prefix, 's', user))) do
    local at, prox = string.match(value, '^([^|]+)|(.+)$')
    if at == tostring(epoch) then found[#found + 1] = prox end
  end
  return #found == 1 and found[1] or ''
end

-- Named fields: key_tag, user_tag, epoch, prox_id, user_id, user_key (pk_U), seasoned, link, credential, ttl (s); salt, header and
-- payload of ENROLLED and LINKED (enrolled_salt, enrolled_header, enrolled, linked_…); subject (tag), evidence_seed, evidence_name
-- and evidence_key; forms of the name, with commas between; part (of the person's aliases, which `linked` holds: the one that is
-- kept, or else this one is); replaces (the keys in whose place the enrolment puts this one, one after the other); instead (the
-- PROX_ID of the lost key whose place this one takes, as gw_lost names it, or '').
local function gw_link(keys, a)
  local prefix = keys[1]
  require_room(prefix)
  local f = named(a)
  local tag, user, epoch, prox = f.key_tag, f.user_tag, f.epoch, f.prox_id
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'ERASED' end
  local stored = redis.call('HGET', key(prefix, 'k', tag), 'l')
  if stored and stored ~= f.link then return 'TAKEN' end
  local live = redis.call('GET', key(prefix, 'u', user, epoch))
  if stored then return live == tag and 'SAME' or 'REPLACED' end
  if redis.call('SISMEMBER', key(prefix, 'eo', user), f.user_key) == 1 then return 'REPLACED' end
  if (redis.call('GET', key(prefix, 'au', user)) or f.part) ~= f.part then return 'AGAIN' end
  local enrolled = redis.call('GET', key(prefix, 'e', user))
  if enrolled and enrolled ~= f.user_key and not is_among(enrolled, f.replaces) then return 'UNNAMED' end
  if live and (f.instead == '' or f.instead ~= only_key(prefix, user, epoch)) then return 'LIVE' end
  if not enrolled then
    for form in string.gmatch(f.forms, '[^,]+') do
      if redis.call('EXISTS', key(prefix, 'nm', form)) == 1 then return 'ALIKE' end
    end
    for form in string.gmatch(f.forms, '[^,]+') do
      redis.call('SET', key(prefix, 'nm', form), user)
      own(prefix, user, nil, 'nm:' .. form)
    end
  end
  if enrolled ~= f.user_key then
    for at = 1, #f.replaces, #f.user_key do
      local one = f.replaces:sub(at, at + #f.user_key - 1)
      if one ~= f.user_key then redis.call('SADD', key(prefix, 'eo', user), one) end
    end
    redis.call('SET', key(prefix, 'e', user), f.user_key)
    append_event(prefix, 'ENROLLED', f.enrolled_salt, f.enrolled_header, f.enrolled)
  end
  redis.call('SET', key(prefix, 'au', user), f.part)
  redis.call('HSET', key(prefix, 'k', tag), 'u', user, 'id', f.user_id, 'e', epoch, 'p', prox,
    's', f.seasoned, 'l', f.link, 'c', f.credential)
  redis.call('EXPIRE', key(prefix, 'k', tag), f.ttl)
  redis.call('SET', key(prefix, 'u', user, epoch), tag, 'EX', f.ttl)
  redis.call('SET', key(prefix, 'p', prox), tag, 'EX', f.ttl)
  redis.call('SET', key(prefix, 'ek', f.subject), f.evidence_seed, 'EX', f.ttl)
  redis.call('SET', f.evidence_name, f.evidence_key, 'EX', f.ttl)
  forget_expired(prefix, user)
  if f.instead ~= '' then
    choose_anew(prefix, user, epoch)
    owe(prefix, 'lost|' .. user .. '|' .. epoch, 0)
  end
  redis.call('HSET', key(prefix, 's', user), f.subject, epoch .. '|' .. prox)
  append_event(prefix, 'LINKED', f.linked_salt, f.linked_header, f.linked)
  return 'NEW'
end

-- ARGV: user tag, epoch: the PROX_ID of the person's epoch key, whose place another one may take, or ''.
local function gw_lost(keys, a)
  return only_key(keys[1], a[1], a[2])
end

-- Named fields: user_tag, user_key, digest (of the EA's word), salt, header ('' while nobody knows the time: 2), payload. The key and
-- the epoch keys that it linked are dead, and REVOKED says so, once (1, or 0 if it was said); of somebody who was erased there is
-- nothing to say (-1).
local function gw_revoke(keys, a)
  local prefix, f = keys[1], named(a)
  local user = f.user_tag
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return -1 end
  if redis.call('SISMEMBER', key(prefix, 'rv'), f.digest) == 1 then return 0 end
  redis.call('SADD', key(prefix, 'eo', user), f.user_key)
  for _, value in ipairs(redis.call('HVALS', key(prefix, 's', user))) do
    local live = key(prefix, 'u', user, string.match(value, '^([^|]+)|'))
    local link = redis.call('HGET', key(prefix, 'k', redis.call('GET', live) or ''), 'l')
    if link and string.find(link, f.user_key, 1, true) then redis.call('SET', live, '', 'KEEPTTL') end
  end
  if f.header == '' then return 2 end
  redis.call('SADD', key(prefix, 'rv'), f.digest)
  append_event(prefix, 'REVOKED', f.salt, f.header, f.payload)
  return 1
end

-- ARGV: key tag; 1 if it may be revoked or replaced, though not of somebody who is erased
local function gw_registration(keys, a)
  local user = is_live(keys[1], a[1])
  if a[2] == '1' then
    user = redis.call('HGET', key(keys[1], 'k', a[1]), 'u')
    if user and redis.call('EXISTS', key(keys[1], 'x', user)) == 1 then user = nil end
  end
  if not user then return {} end
  return redis.call('HMGET', key(keys[1], 'k', a[1]), 'id', 'u', 'e', 'p', 's', 'l', 'c')
end

-- ARGV: user tag; the part of the person's aliases.
local function gw_part(keys, a)
  return redis.call('GET', key(keys[1], 'au', a[1]))
end

-- ARGV: party, period, key, until (s), salt, header, payload. The first key stays until it is forgotten.
local function gw_alias_key(keys, a)
  local prefix, name = keys[1], a[1] .. '|' .. a[2]
  if redis.call('HSETNX', key(prefix, 'ak'), name, a[3]) == 1 then
    redis.call('ZADD', key(prefix, 'ake'), a[4], name)
    append_event(prefix, 'KEYED', a[5], a[6], a[7])
  end
  return redis.call('HGET', key(prefix, 'ak'), name)
end

-- ARGV: now (s). Keys of aliases go a period after the end of theirs.
local function gw_forget_alias_keys(keys, a)
  local due = redis.call('ZRANGEBYSCORE', key(keys[1], 'ake'), '-inf', a[1], 'LIMIT', 0, 1000)
  for _, name in ipairs(due) do
    redis.call('HDEL', key(keys[1], 'ak'), name)
    redis.call('ZREM', key(keys[1], 'ake'), name)
  end
  return #due
end

-- ARGV: PROX_ID…; for each the USER_ID, user tag, epoch, and the part of the person's aliases, or empty strings.
local function gw_people(keys, a)
  local prefix, found = keys[1], {}
  for _, prox in ipairs(a) do
    local tag = redis.call('GET', key(prefix, 'p', prox))
    local fields = tag and redis.call('HMGET', key(prefix, 'k', tag), 'id', 'u', 'e') or {'', '', ''}
    for i = 1, 3 do found[#found + 1] = fields[i] or '' end
    found[#found + 1] = fields[2] and redis.call('GET', key(prefix, 'au', fields[2])) or ''
  end
  return found
end

-- ARGV: epoch
local function gw_epoch(keys, a)
  return redis.call('GET', key(keys[1], 'epoch', a[1]))
end

-- Named fields: epoch, key (MS's signed one), ttl (s), until (time at which its links expire), salt, header, payload; then
-- of each party its name and its sealed feed key, or ''. The first key stays.
local function gw_open_epoch(keys, a)
  local f, rows = named(a)
  local entry = key(keys[1], 'epoch', f.epoch)
  if redis.call('SET', entry, f.key, 'EX', f.ttl, 'NX') then
    redis.call('ZADD', key(keys[1], 'expiring'), f['until'], f.epoch)
    local parties = {}
    for i = rows, #a, 2 do
      parties[#parties + 1] = a[i]
      if a[i + 1] ~= '' then redis.call('HSET', key(keys[1], 'fk', a[i]), f.epoch, a[i + 1]) end
    end
    append_event(keys[1], 'EPOCH_OPENED', f.salt, with_feeds(keys[1], f.header, parties), f.payload)
  end
  return redis.call('GET', entry)
end

-- ARGV: party, epoch
local function gw_feed_key(keys, a)
  return redis.call('HGET', key(keys[1], 'fk', a[1]), a[2])
end

-- ARGV: salt, now s. Links go by their time to live; an event for each epoch says so before.
local function gw_expire_links(keys, a)
  local prefix = keys[1]
  local due = redis.call('ZRANGEBYSCORE', key(prefix, 'expiring'), '-inf', a[2], 'LIMIT', 0, 1000)
  for _, epoch in ipairs(due) do
    redis.call('ZREM', key(prefix, 'expiring'), epoch)
    local header = string.format('{"first":%s,"kind":"links","until":%s}', epoch, epoch)
    append_event(prefix, 'EXPIRED', a[1], header, '')
  end
  return #due
end

redis.register_function('gw_link', gw_link)
reads('gw_lost', gw_lost)
redis.register_function('gw_revoke', gw_revoke)
reads('gw_registration', gw_registration)
reads('gw_people', gw_people)
reads('gw_epoch', gw_epoch)
reads('gw_feed_key', gw_feed_key)
reads('gw_part', gw_part)
redis.register_function('gw_alias_key', gw_alias_key)
redis.register_function('gw_forget_alias_keys', gw_forget_alias_keys)
redis.register_function('gw_open_epoch', gw_open_epoch)
redis.register_function('gw_expire_links', gw_expire_links)
