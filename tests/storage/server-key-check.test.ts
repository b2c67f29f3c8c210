import { openDatabase } from '../../src/storage/database.js';
import { requireServerKey } from '../../src/storage/server-key-check.js';
import { createServerKey } from '../../src/storage/server-key.js';
import { createPlace } from './engine.js';

test('all servers must use a database with the key of its first server', async () => {
  const place = await createPlace();
  const [first, second] = [await openDatabase(place), await openDatabase(place)];
  const keys = [createServerKey('a'.repeat(43)), createServerKey('b'.repeat(43))] as const;
  await Promise.all([requireServerKey(first, keys[0]), requireServerKey(second, keys[0])]);
  await expect(requireServerKey(second, keys[1])).rejects.toMatchObject({
    name: 'StateFolderError',
    message: expect.stringMatching(/^server\.key differs from the key of the database; /) as string,
  });
  await Promise.all([first.destroy(), second.destroy()]);
});
