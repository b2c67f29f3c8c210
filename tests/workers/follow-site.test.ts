/** A site that one service owns and another follows, in one process. */
import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import sharp from 'sharp';
import { loadConfig } from '../../src/config/config.js';
import type { SharingSiteService, SiteService, SiteState } from '../../src/site-data/service.js';
import { startSite } from '../../src/site-data/start-site.js';
import { followSite } from '../../src/workers/follow-site.js';
import type { FromWorker, ToWorker } from '../../src/workers/primary-link.js';
import { eventually } from '../eventually.js';
import { createTestFolder } from '../storage/engine.js';

const ID = { values: [{ kind: 'column', name: 'id', column: 'id', holds: 'value' }], relations: [] } as const;

let folder: string;
let owner: SharingSiteService;
let follower: SiteService;
const warnings: string[] = [];
beforeAll(async () => {
  folder = await createTestFolder();
  await mkdir(path.join(folder, 'site'));
  await writeFile(path.join(folder, 'site', 'a.txt'), 'a');
  const config = await loadConfig({
    flags: { site: path.join(folder, 'site'), state: path.join(folder, 'state'), workers: '2' },
    env: {},
    folder,
  });
  const log = { error: (line: string) => warnings.push(line), warn: () => undefined, info: () => undefined };
  const messages = new EventEmitter();
  const send = (message: ToWorker): void => void messages.emit(message.kind, message);
  const shareSite = (): void => send({ kind: 'site', site: owner.share() });
  const terminal = { isTTY: false, columns: 80, write: () => true };
  owner = startSite(config, {
    log,
    terminal,
    onShared(what) {
      const shared = owner.share();
      if (what === 'records' && shared.status === 'open') send({ ...shared, kind: 'records' });
      else if (what === 'site') shareSite();
    },
  });
  follower = followSite(config, {
    log,
    terminal,
    primary: {
      on: (kind, listener) => void messages.on(kind, listener),
      send(message: FromWorker) {
        if (message.kind === 'damage') owner.replaceDamaged(message.reason);
        if (message.kind === 'digest') owner.readDigest(message.pending);
        if (message.kind === 'index') owner.makeIndex(message.key);
      },
    },
  });
  shareSite();
});
afterAll(async () => {
  await follower.close();
  await owner.close();
});

function countFiles(): number | undefined {
  if (!('open' in follower.state)) return undefined;
  return follower.state.open.site.store.page('File', {}, ID).totalCount;
}

test('opens the records when the owner has, and then sees its changes', async () => {
  await follower.firstAttempt;
  expect(countFiles()).toBe(1);
  await writeFile(path.join(folder, 'site', 'b.txt'), 'b');
  await eventually(() => expect(countFiles()).toBe(2));
  expect(follower.countWork()).toMatchObject({ status: 'ok', records: owner.countWork().records });
  expect(follower.report(true)).toEqual(owner.report(true));
});

test('waits for the digest of a large file, which the owner reads before the others', async () => {
  const { open } = follower.state as Extract<SiteState, { open: unknown }>;
  const { store, readDigest } = open.site;
  // Reading the first one takes minutes.
  await putSparse('archive.mp4', 2 ** 40);
  await eventually(() => expect(countFiles()).toBe(3));
  await putSparse('video.mp4', 2 ** 22);
  await eventually(() => expect(countFiles()).toBe(4));
  const digestOf = (base: string) => String(store.first('File', [DIGEST], { base })?.[DIGEST]);
  expect(digestOf('archive.mp4')).toMatch(/^pending /);
  const digest = createHash('md5')
    .update(Buffer.alloc(2 ** 22))
    .digest('hex');
  // The file may have been read before this query.
  expect(await readDigest(digestOf('video.mp4'))).toBe(digest);
  expect(digestOf('video.mp4')).toBe(digest);
  await rm(path.join(folder, 'site', 'archive.mp4'));
  await rm(path.join(folder, 'site', 'video.mp4'));
  await eventually(() => expect(countFiles()).toBe(2));
});

test('reads the previews that the owner has rendered ahead of queries', async () => {
  const pixel = { create: { width: 40, height: 30, channels: 3, background: 'teal' } } as const;
  await writeFile(path.join(folder, 'site', 'teal.png'), await sharp(pixel).png().toBuffer());
  await eventually(() => expect(owner.countPreviews?.()).toEqual({ rendered: 1, waiting: 0 }));
  await rm(path.join(folder, 'site', 'teal.png'));
  await eventually(() => expect(countFiles()).toBe(2));
});

/** Moves the file in, so that the site never has an empty file of this name. */
async function putSparse(name: string, bytes: number): Promise<void> {
  const file = path.join(folder, name);
  await writeFile(file, '');
  await truncate(file, bytes);
  await rename(file, path.join(folder, 'site', name));
}

const DIGEST = 'internal.contentDigest';

test('is unavailable while damaged records are made again, and then opens the new ones', async () => {
  owner.replaceDamaged(new Error('damaged by the test'));
  expect(follower.report(false).status).not.toBe('open');
  await eventually(() => expect([countFiles(), follower.report(false).status]).toEqual([2, 'ok']));
  await writeFile(path.join(folder, 'site', 'c.txt'), 'c');
  await eventually(() => expect(countFiles()).toBe(3));
  expect(warnings).toEqual([expect.stringContaining('damaged by the test')]);
});
