/** A site that one service owns and another follows, in one process. */
import { EventEmitter } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig } from '../../src/config/config.js';
import { type SharingSiteService, type SiteService, startSite } from '../../src/site-service.js';
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

test('is unavailable while damaged records are made again, and then opens the new ones', async () => {
  owner.replaceDamaged(new Error('damaged by the test'));
  expect(follower.report(false).status).not.toBe('open');
  await eventually(() => expect([countFiles(), follower.report(false).status]).toEqual([2, 'ok']));
  await writeFile(path.join(folder, 'site', 'c.txt'), 'c');
  await eventually(() => expect(countFiles()).toBe(3));
  expect(warnings).toEqual([expect.stringContaining('damaged by the test')]);
});
