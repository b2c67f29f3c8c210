import { openDatabase } from '../../src/storage/database.js';
import { assertServerKey } from '../../src/storage/server-key-check.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { createDatabaseTarget } from './engine.js';

test('all servers must use a database with the key of its first server', async () => {
  const place = await createDatabaseTarget();
  const [first, second] = [await openDatabase(place), await openDatabase(place)];
  const keys = [createServerKey('a'.repeat(43)), createServerKey('b'.repeat(43))] as const;
  await Promise.all([assertServerKey(first, keys[0]), assertServerKey(second, keys[0])]);
  await expect(assertServerKey(second, keys[1])).rejects.toMatchObject({
    name: 'StateFolderError',
    message: expect.stringMatching(/^server\.key differs from the key of the database; /) as string,
  });
  await Promise.all([first.destroy(), second.destroy()]);
});
