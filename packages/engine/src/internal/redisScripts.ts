/**
 * What the Redis store runs inside Redis. A script is carried out whole, with nothing of anybody else in between.
 *
 * Every script reads and refuses before it writes, and its first write is one that Redis refuses when it is full or
 * read-only: so a script that is refused has changed nothing. Redis undoes nothing that a script has done before it
 * fails, so the types of all keys that may be written are looked at first. All keys of a store share one hash tag, and
 * with it the slot of a cluster.
 *
 * @since 0.1.0
 */
import * as Redis from "effect/persistence/Redis"
import type { TaskRecord } from "../TaskRecord.ts"

/**
 * The keys of one store.
 *
 * @since 0.1.0
 */
export interface Keys {
  /** What every key of a task begins with; a hash of the record's members. */
  readonly tasks: string
  /** Tasks with a deadline, sorted by it. */
  readonly due: string
  /** All tasks, sorted by their ids. */
  readonly ids: string
  /** Live tasks, sorted by their ids. */
  readonly live: string
  /** Live tasks again, as owner, NUL and id: sorted by owner, counted by owner. Neither of the two holds a NUL. */
  readonly owned: string
}

/**
 * Names the keys of a store.
 *
 * @since 0.1.0
 */
export const keys = (prefix: string): Keys => ({
  tasks: `{${prefix}}:task:`,
  due: `{${prefix}}:due`,
  ids: `{${prefix}}:ids`,
  live: `{${prefix}}:live`,
  owned: `{${prefix}}:owned`
})

/**
 * The range of an owner's members in `owned`.
 *
 * @since 0.1.0
 */
export const range = (owner: string): readonly [from: string, to: string] => [`[${owner}\0`, `(${owner}\u0001`]

const all = (of: Keys, taskId: string) => [of.tasks + taskId, of.due, of.ids, of.live, of.owned]

/** The members of a record that a replacement writes too; a result only where there is one. */
const written = ({ body, dueAt, head, live, result }: TaskRecord) => [
  live ? 1 : 0,
  dueAt ?? "",
  head,
  body,
  ...(result === null ? [] : [result])
]

/**
 * Refuses where somebody else keeps something of another type under the key of an index; the indexes are the keys from
 * this one on.
 */
const indexes = (first: number) => `
for at = ${first}, #KEYS do
  local kind = redis.call('TYPE', KEYS[at]).ok
  if kind ~= 'zset' and kind ~= 'none' then
    return redis.error_reply('WRONGKEY ' .. KEYS[at] .. ' is a ' .. kind .. ', and not of this store')
  end
end`

/**
 * Creates a task: `created`, or `known` when the id is taken, or `many` at the owner's limit.
 *
 * @since 0.1.0
 */
export const create = Redis.script(
  (of: Keys, record: TaskRecord, maxLive: number) => [
    ...all(of, record.taskId),
    record.taskId,
    record.owner,
    ...range(record.owner),
    maxLive,
    ...written(record)
  ],
  {
    numberOfKeys: 5,
    lua: `
local task, due, ids, live, owned = unpack(KEYS)
local id, owner, from, to, maxLive, isLive, dueAt, head, body, result = unpack(ARGV)
if redis.call('EXISTS', task) == 1 then return 'known' end
${indexes(2)}
if redis.call('ZLEXCOUNT', owned, from, to) >= tonumber(maxLive) then return 'many' end
redis.call('HSET', task, 'version', '1', 'owner', owner, 'live', isLive, 'due', dueAt, 'head', head, 'body', body)
if result then redis.call('HSET', task, 'result', result) end
redis.call('ZADD', ids, 0, id)
if dueAt ~= '' then redis.call('ZADD', due, dueAt, id) end
if isLive == '1' then
  redis.call('ZADD', live, 0, id)
  redis.call('ZADD', owned, 0, owner .. '\\0' .. id)
end
return 'created'`
  }
).withReturnType<"created" | "known" | "many">()

/**
 * Replaces a task that still has the version that was read: 1, or 0 when it has not.
 *
 * @since 0.1.0
 */
export const replace = Redis.script(
  (of: Keys, record: TaskRecord, version: number) => [
    ...all(of, record.taskId),
    record.taskId,
    version,
    version + 1,
    ...written(record)
  ],
  {
    numberOfKeys: 5,
    lua: `
local task, due, ids, live, owned = unpack(KEYS)
local id, version, nextVersion, isLive, dueAt, head, body, result = unpack(ARGV)
local old = redis.call('HMGET', task, 'version', 'owner', 'live', 'due')
if old[1] ~= version then return 0 end
if not old[2] then return redis.error_reply('WRONGTYPE the task has no owner') end
${indexes(2)}
redis.call('HSET', task, 'version', nextVersion, 'live', isLive, 'due', dueAt, 'head', head, 'body', body)
if result then redis.call('HSET', task, 'result', result) else redis.call('HDEL', task, 'result') end
if dueAt == '' then
  redis.call('ZREM', due, id)
elseif dueAt ~= old[4] then
  redis.call('ZADD', due, dueAt, id)
end
if isLive ~= old[3] then
  local member = old[2] .. '\\0' .. id
  if isLive == '1' then
    redis.call('ZADD', live, 0, id)
    redis.call('ZADD', owned, 0, member)
  else
    redis.call('ZREM', live, id)
    redis.call('ZREM', owned, member)
  end
end
return 1`
  }
).withReturnType<0 | 1>()

/**
 * Removes a task that still has that version: 1, or 0 when it has not. It only frees memory, so that Redis carries it
 * out even when it is full.
 *
 * @since 0.1.0
 */
export const remove = Redis.script(
  (of: Keys, taskId: string, version: number) => [...all(of, taskId), taskId, version],
  {
    numberOfKeys: 5,
    lua: `
local task, due, ids, live, owned = unpack(KEYS)
local id, version = unpack(ARGV)
local old = redis.call('HMGET', task, 'version', 'owner')
if old[1] ~= version then return 0 end
${indexes(2)}
redis.call('UNLINK', task)
redis.call('ZREM', due, id)
redis.call('ZREM', ids, id)
redis.call('ZREM', live, id)
redis.call('ZREM', owned, (old[2] or '') .. '\\0' .. id)
return 1`
  }
).withReturnType<0 | 1>()

/**
 * What is due, as id, version and life of each. An id without its task (Redis was told to evict) is dropped, since it
 * would come up for ever. Only its owner's count keeps it: nobody knows any more whose it was. A key that is no hash,
 * or one without these members, is there, and damaged: it must not fail the script, which is for all tasks. First it
 * removes nothing, which a Redis refuses that would refuse whatever is to be done about what is due.
 *
 * @since 0.1.0
 */
export const due = Redis.script(
  (of: Keys, now: number, limit: number) => [of.due, of.ids, of.live, of.tasks, now, limit],
  {
    numberOfKeys: 3,
    lua: `
local tasks, now, limit = unpack(ARGV)
${indexes(1)}
redis.call('ZREM', KEYS[1], '')
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, limit)) do
  local task = redis.pcall('HMGET', tasks .. id, 'version', 'live')
  if task.err or task[1] or redis.call('EXISTS', tasks .. id) == 1 then
    table.insert(found, id)
    table.insert(found, task[1] or '')
    table.insert(found, task[2] or '')
  else
    for _, index in ipairs(KEYS) do redis.call('ZREM', index, id) end
  end
end
return found`
  }
).withReturnType<ReadonlyArray<string>>()

/**
 * Which tasks to list, and from where.
 *
 * @since 0.1.0
 */
export interface Listing {
  /** The sorted set to walk along, and the part of it, in the words of `ZRANGEBYLEX`. */
  readonly index: string
  readonly from: string
  readonly to: string
  /** How many characters stand before the id in each member. */
  readonly skip: number
  /** Who must own a task and what its life must be, where the index does not say so itself. */
  readonly owner: string | undefined
  readonly live: boolean | undefined
  readonly limit: number
}

/** How many members one script looks at, so that nobody else waits long for a list with few hits. */
const stride = 500

/**
 * One stretch of a list: the last member that was looked at, or nothing at the end; then id, version, body, result,
 * owner and life of each hit. What is damaged is a hit too, whatever is asked for.
 *
 * @since 0.1.0
 */
export const list = Redis.script(
  (of: Keys, { from, index, limit, live, owner, skip, to }: Listing) => [
    index,
    of.tasks,
    from,
    to,
    skip,
    limit,
    owner === undefined && live === undefined ? Math.min(limit, stride) : stride,
    live === undefined ? "" : live ? 1 : 0,
    ...(owner === undefined ? [] : [owner])
  ],
  {
    numberOfKeys: 1,
    lua: `
local tasks, from, to, skip, limit, count, live, owner = unpack(ARGV)
${indexes(1)}
local members = redis.call('ZRANGEBYLEX', KEYS[1], from, to, 'LIMIT', 0, count)
local found = { members[tonumber(count)] or false }
local hits = 0
for _, member in ipairs(members) do
  local id = string.sub(member, skip + 1)
  local task = redis.pcall('HMGET', tasks .. id, 'version', 'body', 'result', 'owner', 'live')
  local isThere = task.err or task[1] or redis.call('EXISTS', tasks .. id) == 1
  if isThere and (not owner or not task[4] or owner == task[4]) and (live == '' or not task[5] or live == task[5]) then
    table.insert(found, id)
    for part = 1, 5 do table.insert(found, task[part] or false) end
    hits = hits + 1
  end
  if hits == tonumber(limit) then
    found[1] = member
    break
  end
end
return found`
  }
).withReturnType<ReadonlyArray<string | null>>()
