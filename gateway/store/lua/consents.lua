-- Consent, and what a change of it takes back (DESIGN 7). Keys and helpers are common.lua's.

-- What was granted before, and a vector of an epoch does not grant, stays taken back from epochs before it, whatever is granted later.
local function take_back(prefix, user, epoch, ttl, granted)
  local marks, now = key(prefix, 'gs', user), {}
  for _, grant in ipairs(granted) do
    now[string.match(grant, '^[^|]*|[^|]*')] = true
    redis.call('HSETNX', marks, string.match(grant, '^[^|]*|[^|]*'), '0')
  end
  for _, grant in ipairs(redis.call('HKEYS', key(prefix, 'c', user, tonumber(epoch) - 1))) do
    local offer = string.match(grant, '^[^|]*|[^|]*')
    if offer then redis.call('HSETNX', marks, offer, '0') end
  end
  for _, offer in ipairs(redis.call('HKEYS', marks)) do
    if not now[offer] and not took_back(prefix, user, epoch - 1, offer) then redis.call('HSET', marks, offer, epoch) end
  end
  redis.call('EXPIRE', marks, ttl)
end

local SETTLED = {'e', 'k', 'a', 't'}  -- fields that settle looks at

-- Drop, of a person's groups, those that may not go out (any more), and have nothing of them sent again: with a reason all that
-- are not acknowledged, whatever was granted; else those of an epoch, and of before, for which a grant was lost.
local function settle(prefix, user, epoch, reason, salt, groups)
  for _, group in ipairs(groups) do
    local party, cursor, f = group[1], group[2], group[3]
    local grant, why = party .. '|' .. f[2], reason
    if why == '' and refusal(prefix, user, f[1], grant) and (f[1] == epoch or took_back(prefix, user, f[1], grant)) then
      why = 'withdrawn'
    end
    if f[3] == '0' and why ~= '' then
      if f[4] == 'entries' then
        keep_entries(prefix, party, cursor, function(member) return member == user and why or nil end, salt)
      else drop_group(prefix, party, cursor, why, redis.sha1hex(salt .. party .. cursor):sub(1, 16)) end
    end
  end
end

-- Of each party that was sent something of a person: its name, records, those not acknowledged, contents. What is possibly held
-- of epochs whose links are forgotten is forgotten, too.
local function sent_before(prefix, user)
  local found, rows = {}, {}
  local function count(party, at, more)
    if not found[party] then
      found[party] = {party, 0, 0, 0}
      rows[#rows + 1] = found[party]
    end
    found[party][at] = found[party][at] + more
  end
  for _, name in ipairs(redis.call('HKEYS', key(prefix, 'ps', user))) do
    local party, epoch = string.match(name, '^([^|]*)|(%d+)')
    if redis.call('EXISTS', key(prefix, 'c', user, epoch)) == 0 then redis.call('HDEL', key(prefix, 'ps', user), name)
    else
      local records = tonumber(redis.call('HGET', key(prefix, 'ps', user), name))
      for _, at in ipairs({2, 3}) do count(party, at, records) end
    end
  end
  for _, group in ipairs(received(prefix, user)) do count(group[1], 2, tonumber(group[4])) end
  for _, group in ipairs(groups_of(prefix, user, 'z', 'a', 'm')) do
    local party, f = group[1], group[3]
    for _, member in ipairs((f[1] == '1' or f[2] == '1') and members_of(f[3]) or {}) do
      if member == user then
        count(party, 2, 1)
        if f[2] ~= '1' then count(party, 3, 1) end
      end
    end
  end
  for _, name in ipairs(redis.call('SMEMBERS', key(prefix, 'ie', user))) do
    local party, epoch, audience = string.match(name, '^([^|]*)|(%d+)|(.*)$')
    for _, cursor in ipairs(redis.call('SMEMBERS', key(prefix, 'ct', party, epoch, audience))) do
      if redis.call('HGET', key(prefix, 'g', party, cursor), 'z') == '1' then count(party, 4, 1) end
    end
  end
  table.sort(rows, function(one, other) return one[1] < other[1] end)
  return rows
end

-- Named fields: user_tag, key_tag, epoch, version, ttl (s), held (s, as owe), salt, header, payload, coming (as gw_settle); then grant
-- PARTY|TYPE|FIDELITY… From this step on nothing leaves that the change takes back. Returns its place, and what had left.
local function gw_consent(keys, a)
  local prefix = keys[1]
  require_room(prefix)
  local f, rows = named(a)
  local user, epoch, version = f.user_tag, f.epoch, tonumber(f.version)
  local entry = key(prefix, 'c', user, epoch)
  if redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return 'ERASED' end
  if f.key_tag ~= '' and redis.call('GET', key(prefix, 'u', user, epoch)) ~= f.key_tag then return 'REVOKED' end
  if #a >= rows and redis.call('EXISTS', key(prefix, 'ob', user)) == 1 then return 'OBJECTED' end
  local current = tonumber(redis.call('HGET', entry, 'v') or '0')
  if version == current and redis.call('HGET', entry, 'w') == f.payload then
    return {redis.call('HGET', entry, 'at') or '', sent_before(prefix, user)}
  end
  if version ~= current + 1 then return 'STALE' end
  local told = {'o' .. version, f.payload}
  for _, name in ipairs(redis.call('HKEYS', entry)) do
    if name == 'k' or string.match(name, '^o%d+$') then
      told[#told + 1], told[#told + 2] = name, redis.call('HGET', entry, name)
    end
  end
  redis.call('DEL', entry)
  redis.call('HSET', entry, 'v', version, 'w', f.payload, unpack(told))
  for i = rows, #a do redis.call('HSET', entry, a[i], '1') end
  redis.call('EXPIRE', entry, f.ttl)
  take_back(prefix, user, epoch, f.ttl, {unpack(a, rows)})
  owe(prefix, 'consent|' .. user .. '|' .. epoch, f.held)
  local place = place_of(prefix, append_event(prefix, 'CONSENT', f.salt, f.header, f.payload))
  redis.call('HSET', entry, 'at', place)
  local salt = redis.sha1hex(f.salt .. 's'):sub(1, 16)
  settle_contents(prefix, user, '', salt, f.coming)
  settle(prefix, user, epoch, '', salt, groups_of(prefix, user, unpack(SETTLED)))
  return {place, sent_before(prefix, user)}
end

-- ARGV: user tag, reason, salt, the first epoch whose contents may still come; cursor (0 at first), about how many.
-- Where it goes on, 0 if that was all. Whoever has a reason to settle has seen to it that nothing goes out meanwhile.
local function gw_settle(keys, a)
  local prefix, user = keys[1], a[1]
  if a[5] == '0' then settle_contents(prefix, user, a[2], a[3], a[4]) end
  local some = redis.call('SSCAN', key(prefix, 'ig', user), a[5], 'COUNT', a[6])
  settle(prefix, user, '', a[2], a[3], groups_named(prefix, some[2], unpack(SETTLED)))
  return some[1]
end

-- Named fields: user_tag, key_tag, epoch, version, salt, header, payload; once a version. -1 if another key has taken the place of
-- this one, whose versions they are now.
local function gw_consent_acknowledged(keys, a)
  local prefix, f = keys[1], named(a)
  local live = redis.call('GET', key(prefix, 'u', f.user_tag, f.epoch))
  if live and live ~= '' and f.key_tag ~= '' and live ~= f.key_tag then return -1 end
  local entry, version = key(prefix, 'c', f.user_tag, f.epoch), tonumber(f.version)
  if version <= tonumber(redis.call('HGET', entry, 'k') or '0') then return 0 end
  if redis.call('EXISTS', entry) == 1 then redis.call('HSET', entry, 'k', version) end
  local waits = false
  for _, name in ipairs(redis.call('HKEYS', entry)) do
    local other = tonumber(string.match(name, '^o(%d+)$'))
    if other and other <= version then redis.call('HDEL', entry, name) end
    waits = waits or (other ~= nil and other > version)
  end
  if not waits then redis.call('ZREM', key(prefix, 'owed'), 'consent|' .. f.user_tag .. '|' .. f.epoch) end
  return append_event(prefix, 'CONSENT', f.salt, f.header, f.payload)
end

redis.register_function('gw_consent', gw_consent)
redis.register_function('gw_settle', gw_settle)
redis.register_function('gw_consent_acknowledged', gw_consent_acknowledged)
