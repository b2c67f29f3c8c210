import { appendAuditEntry } from '../../src/secrets/audit/chain.js';
import { sequenceAuditEntries, startSequencer } from '../../src/secrets/audit/sequence.js';
import { verifyAuditChain } from '../../src/secrets/audit/verify-chain.js';
import { type Database, inTransaction } from '../../src/storage/database.js';
import { createIdempotencyStore } from '../../src/storage/idempotency-store.js';
import { openDatabase } from '../../src/storage/open-database.js';
import { eventually } from '../eventually.js';
import { createDatabaseTarget, engine } from '../storage/engine.js';

const WRITERS = 8;
const ENTRIES_OF_EACH = 10;

const origin = { caller: undefined, ip: '192.0.2.7', at: 1_795_000_000_000 };

async function write(database: Database, slug: string): Promise<string> {
  await inTransaction(database, async (transaction) => {
    await transaction.selectFrom('secret_objects').select('id').where('slug', '=', slug).execute();
    await appendAuditEntry(transaction, { action: 'read', slug, variantId: 'v' }, origin);
  });
  return slug;
}

/** Opens one connection for each writer on PostgreSQL, like several servers; SQLite has a single server. */
async function openWriters(): Promise<Database[]> {
  const place = await createDatabaseTarget();
  const open = () => openDatabase(place);
  const first = await open();
  const others = Array.from({ length: WRITERS - 1 }, async () => (engine === 'SQLite' ? first : open()));
  return [first, ...(await Promise.all(others))];
}

test.each([
  ['plain writes', write],
  [
    'writes with an idempotency key',
    (database: Database, slug: string) =>
      createIdempotencyStore(database).answerOnce({ scope: 's', key: slug, request: slug }, () =>
        write(database, slug),
      ),
  ],
])('eight concurrent writers succeed and number their entries without gaps: %s', async (_kind, writeOne) => {
  const writers = await openWriters();
  await Promise.all(
    writers.map(async (database, writer) => {
      for (let entry = 0; entry < ENTRIES_OF_EACH; entry += 1) await writeOne(database, `${writer}-${entry}`);
    }),
  );
  await Promise.all(writers.map((database) => sequenceAuditEntries(database)));
  expect((await verifyAuditChain(writers[0]!)).broken).toBeUndefined();
  const entries = await writers[0]!.selectFrom('audit_log').select(['id', 'slug']).orderBy('id').execute();
  expect(entries.map(({ id }) => id)).toEqual(Array.from({ length: WRITERS * ENTRIES_OF_EACH }, (_, at) => at + 1));
  expect(new Set(entries.map(({ slug }) => slug)).size).toBe(entries.length);
  await Promise.all([...new Set(writers)].map((database) => database.destroy()));
});

test('an idle sequencer chains the entries of its own process at once, and those of others when it looks again', async () => {
  const [own = await openDatabase(await createDatabaseTarget()), other = own] = await openWriters();
  const failures: unknown[] = [];
  const report = (error: unknown): void => void failures.push(error);
  const sequencer = startSequencer(own, report, 3_600_000);
  const countChained = async (): Promise<number> => (await own.selectFrom('audit_log').select('id').execute()).length;
  await write(own, 'first');
  await eventually(async () => expect(await countChained()).toBe(1));
  await sequencer.close();
  const looking = startSequencer(own, report, 10);
  await write(other, 'second');
  await eventually(async () => expect(await countChained()).toBe(2));
  await looking.close();
  expect(failures).toEqual([]);
  await Promise.all([own, other].map((database) => database.destroy()));
});
