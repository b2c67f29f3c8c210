import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../src/errors.js';
import { convertStorageFault, findStorageFault, moveDamagedAside } from '../src/storage.js';

const sqlite = (errcode: number) => Object.assign(new Error('SQLite'), { code: 'ERR_SQLITE_ERROR', errcode });
const system = (code: string) => Object.assign(new Error(code), { code });

describe('findStorageFault', () => {
  test.each([
    ['a full disk under SQLite', sqlite(13), 'full'],
    ['a read-only database, by its extended code', sqlite(8 + 256 * 3), 'read-only'],
    ['an I/O error, by its extended code', sqlite(10 + 256 * 2), 'failing'],
    ['a damaged page', sqlite(11), 'damaged'],
    ['a file of a different format', sqlite(26), 'damaged'],
    ['a lock of a different process', sqlite(5), 'busy'],
    ['a database that cannot be opened', sqlite(14), 'closed'],
    ['a full disk', system('ENOSPC'), 'full'],
    ['a read-only disk', system('EROFS'), 'read-only'],
    ['the cause of an error', new Error('outer', { cause: system('EIO') }), 'failing'],
    ['a damaged page, by its message alone', new Error('database disk image is malformed'), 'damaged'],
    ['a constraint', sqlite(19), undefined],
    ['a missing file', system('ENOENT'), undefined],
    ['no error', undefined, undefined],
  ])('names %s', (_what, error, fault) => {
    expect(findStorageFault(error)).toBe(fault);
  });
});

describe('convertStorageFault', () => {
  test('converts a fault to an unavailable error with its reason and a time to retry', () => {
    expect(convertStorageFault(sqlite(13))).toMatchObject({
      code: 'unavailable',
      status: 503,
      message: "The server can't use its storage: the disk is full.",
      headers: { 'Retry-After': '30' },
    });
    expect(convertStorageFault(sqlite(5))).toMatchObject({ headers: { 'Retry-After': '1' } });
  });

  test.each([
    ['another error', new Error('a defect')],
    ['an error for callers', new AppError('not_found', 'No note.', { cause: sqlite(11) })],
  ])('returns %s unchanged', (_what, error) => {
    expect(convertStorageFault(error)).toBe(error);
  });
});

describe('moveDamagedAside', () => {
  test('keeps the two newest files with their logs, and ignores a missing file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trellis-damaged-'));
    const file = join(folder, 'a.db');
    expect(moveDamagedAside(file)).toBeUndefined();
    const moved: (string | undefined)[] = [];
    for (const content of ['1', '2', '3']) {
      writeFileSync(file, content);
      writeFileSync(`${file}-wal`, content);
      writeFileSync(`${file}-shm`, content);
      moved.push(moveDamagedAside(file));
      // The names contain milliseconds.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const kept = moved.slice(1).flatMap((name) => [name, `${name}-wal`]);
    expect(readdirSync(folder).map((name) => join(folder, name))).toEqual(kept);
    rmSync(folder, { recursive: true });
  });
});
