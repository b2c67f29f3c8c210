import { EventEmitter, once } from 'node:events';
import type { Database } from '../../src/storage/database.js';
import {
  createIdempotencyStore,
  deleteExpiredResponses,
  type IdempotencyStore,
} from '../../src/storage/idempotency-store.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { encryptAtRest, decryptAtRest } from '../../src/storage/server-key.js';
import { createDatabaseTarget, openTestDatabase } from './engine.js';

const request = { scope: 'ada createToken', key: 'k1', request: { body: { label: 'x' } } };

let at: number;
let made: number;
let database: Database;
let replays: IdempotencyStore;

beforeEach(async () => {
  at = 0;
  made = 0;
  database = await openTestDatabase();
  replays = createIdempotencyStore(database, () => at);
});
afterEach(() => database.destroy());

const make = async () => ({ token: `secret-${++made}` });

describe('idempotency store', () => {
  test('returns the first response again for 24 hours', async () => {
    const first = await replays.answerOnce(request, make);
    at = 86_399_999;
    expect(await createIdempotencyStore(database, () => at).answerOnce(request, make)).toEqual(first);
    at += 1;
    expect(await replays.answerOnce(request, make)).toEqual({ token: 'secret-2' });
  });

  test('makes a repetition wait for the first request', async () => {
    const answers = await Promise.all([replays.answerOnce(request, make), replays.answerOnce(request, make)]);
    expect(answers).toEqual([{ token: 'secret-1' }, { token: 'secret-1' }]);
  });

  test.each([
    ['a different key', { key: 'k2' }],
    ['a different caller or operation', { scope: 'bob createToken' }],
  ])('performs the request again for %s', async (_reason, change) => {
    await replays.answerOnce(request, make);
    expect(await replays.answerOnce({ ...request, ...change }, make)).toEqual({ token: 'secret-2' });
  });

  test('rejects a key that was used for a different request', async () => {
    const other = { ...request, request: { body: { label: 'y' } } };
    const first = replays.answerOnce(request, make);
    await expect(replays.answerOnce(other, make)).rejects.toMatchObject({ code: 'invalid_input' });
    await first;
    await expect(replays.answerOnce(other, make)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('does not store errors', async () => {
    await expect(replays.answerOnce(request, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await replays.answerOnce(request, make)).toEqual({ token: 'secret-1' });
  });

  const person = { username: 'Ada', display_name: 'Ada', is_admin: 1, created_at: 1 };
  const addPerson = async (to: Database) => {
    const id = `p${++made}`;
    await to
      .insertInto('people')
      .values({ ...person, id, username_key: id })
      .execute();
    return { id };
  };
  const countPeople = async () => (await database.selectFrom('people').select('id').execute()).length;

  test('stores both the change and its response, or neither', async () => {
    const unkept = replays.answerOnce(request, async () => {
      await addPerson(database);
      return { id: 1n };
    });
    await expect(unkept).rejects.toThrow('BigInt');
    expect(await countPeople()).toBe(0);
    await replays.answerOnce(request, () => addPerson(database));
    expect(await replays.answerOnce(request, () => addPerson(database))).toEqual({ id: 'p2' });
    expect(await countPeople()).toBe(1);
  });

  test('performs a request once across several processes', async () => {
    const place = await createDatabaseTarget();
    const replicas = [await openDatabase(place), await openDatabase(place)];
    const answers = await Promise.all(
      replicas.map((replica) =>
        createIdempotencyStore(replica, () => at).answerOnce(request, () => addPerson(replica)),
      ),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(await replicas[0]!.selectFrom('people').select('id').execute()).toEqual([answers[0]]);
    await Promise.all(replicas.map((replica) => replica.destroy()));
  });

  test('blocks no other writers during an external call, and makes a repetition wait for its response', async () => {
    const outside = { ...request, reachesOut: true };
    const forge = new EventEmitter();
    const first = replays.answerOnce(outside, async () => {
      const answer = await addPerson(database);
      forge.emit('asked');
      await once(forge, 'answered');
      return answer;
    });
    await once(forge, 'asked');
    expect(await countPeople()).toBe(1);
    const repetition = replays.answerOnce(outside, make);
    forge.emit('answered');
    expect([await repetition, await replays.answerOnce(outside, make)]).toEqual([await first, await first]);
  });

  describe('a request with external calls', () => {
    const outside = { ...request, reachesOut: true };
    /** Creates the state during the first request, or after its process ended without a response. */
    const claim = () =>
      new Promise<void>((resolve) => {
        const answer = () => {
          resolve();
          return new Promise<never>(() => undefined);
        };
        void replays.answerOnce(outside, answer);
      });
    const another = () => createIdempotencyStore(database, () => at);

    test.each([
      ['in progress', 599_999, 'in_progress'],
      ['without an outcome', 600_000, 'unknown'],
    ])('is not performed again by a different process while the first is %s', async (_reason, time, code) => {
      await claim();
      at = time;
      await expect(another().answerOnce(outside, make)).rejects.toMatchObject({ code: 'conflict', details: { code } });
      expect(made).toBe(0);
    });

    test('is performed again after a day, and after the first has failed', async () => {
      await claim();
      at = 86_400_000;
      const refused = another().answerOnce(outside, () => Promise.reject(new Error('no')));
      await expect(refused).rejects.toThrow('no');
      expect(await another().answerOnce(outside, make)).toEqual({ token: 'secret-1' });
    });

    test('rejects a different request with its key while it has no response', async () => {
      await claim();
      const other = { ...outside, request: { body: { label: 'y' } } };
      await expect(another().answerOnce(other, make)).rejects.toMatchObject({ code: 'invalid_input' });
    });

    test('is performed once by concurrent processes', async () => {
      const place = await createDatabaseTarget();
      const replicas = [await openDatabase(place), await openDatabase(place), await openDatabase(place)];
      const asked = replicas.map((replica) => createIdempotencyStore(replica, () => at).answerOnce(outside, make));
      await Promise.allSettled(asked);
      expect(made).toBe(1);
      await Promise.all(replicas.map((replica) => replica.destroy()));
    });
  });

  test('stores neither the response nor the key in plain text', async () => {
    await replays.answerOnce({ ...request, key: 'my-own-key' }, make);
    const [row] = await database.selectFrom('replays').selectAll().execute();
    const stored = JSON.stringify({ ...row, sealed: Buffer.from(row!.sealed).toString('latin1') });
    expect(stored).not.toMatch(/secret-1|my-own-key/);
  });

  test('decrypts a response only with the same secret', () => {
    const sealed = encryptAtRest('naïve 🌱', 'secret');
    expect(decryptAtRest(sealed, 'secret')).toBe('naïve 🌱');
    expect(() => decryptAtRest(sealed, 'other')).toThrow();
    sealed[sealed.length - 1]! ^= 1;
    expect(() => decryptAtRest(sealed, 'secret')).toThrow();
  });

  test('deletes expired responses', async () => {
    await replays.answerOnce(request, make);
    const count = async () => (await database.selectFrom('replays').select('id').execute()).length;
    await deleteExpiredResponses(database, 86_399_999);
    expect(await count()).toBe(1);
    await deleteExpiredResponses(database, 86_400_000);
    expect(await count()).toBe(0);
  });
});
