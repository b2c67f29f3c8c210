/** Texts that a site renders before a query asks for them. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { loadConfig } from '../../src/config/config.js';
import { startSite } from '../../src/site-data/start-site.js';
import { eventually } from '../eventually.js';
import { createTestFolder } from '../storage/engine.js';

let folder: string;
beforeEach(async () => {
  folder = await createTestFolder();
  await mkdir(path.join(folder, 'site/recipes'), { recursive: true });
});

const put = (name: string, text: string): Promise<void> =>
  writeFile(path.join(folder, 'site/recipes', name), `---\ntitle: T\ntags: []\n---\n\n${text}`);

function countStored(): number {
  const database = new DatabaseSync(path.join(folder, 'state/site/markdown.db'), { readOnly: true });
  try {
    return (database.prepare('SELECT count(*) AS count FROM rendering').get() as { count: number }).count;
  } finally {
    database.close();
  }
}

async function start() {
  const flags = { site: path.join(folder, 'site'), state: path.join(folder, 'state') };
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  const service = startSite(await loadConfig({ flags, env: {}, folder }), {
    log: { error: add, warn: add, info: add },
    terminal: { isTTY: false, write: () => true },
  });
  await service.firstAttempt;
  return {
    lines: () => lines.filter((line) => line.startsWith('Texts')),
    broken: () => lines.filter((line) => / leads to no file of the site|^and /u.test(line)),
    close: () => service.close(),
  };
}

test('all texts are rendered after the start, and those of changed records afterwards', async () => {
  await put('one.md', '# One');
  await put('two.md', '# Two');
  const first = await start();
  await eventually(() =>
    expect(first.lines()).toEqual([expect.stringMatching(/^Texts rendered ahead of queries: 2 /)]),
  );
  await put('three.md', '# Three');
  await eventually(() => expect(first.lines()[1]).toMatch(/^Texts rendered ahead of queries: 1 /));
  await first.close();
  expect(countStored()).toBe(3);
});

test('a text that is stored or too long is not rendered again, and the others are', async () => {
  await put('one.md', '# One');
  const first = await start();
  await eventually(() => expect(first.lines()).toHaveLength(1));
  await first.close();
  await put('large.md', 'word '.repeat(300_000));
  await put('two.md', '# Two');
  const second = await start();
  await eventually(() => expect(second.lines()).toEqual([expect.stringMatching(/: 1 \(/)]));
  await second.close();
  expect(countStored()).toBe(2);
});

test('links that lead to no file are reported after the start, also in stored texts, and after changes', async () => {
  await put('one.md', '# One\n\n[gone](./gone.md) [here](two.md)\n');
  await put('two.md', '![gone](gone.png)\n![gone](gone.png)');
  const one = 'recipes/one.md:8: the link "./gone.md" leads to no file of the site.';
  const two = 'recipes/two.md:6: the image "gone.png" leads to no file of the site (2 links).';
  for (const _start of ['first', 'second']) {
    const site = await start();
    await eventually(() => expect(site.broken()).toEqual([one, two]));
    await put('three.md', '[gone](#text) [gone](nowhere.md)');
    const three = 'recipes/three.md:6: the link "nowhere.md" leads to no file of the site.';
    await eventually(() => expect(site.broken()).toEqual([one, two, three]));
    await rm(path.join(folder, 'site/recipes/three.md'));
    await site.close();
  }
});

test('of many links that lead to no file, twenty are named', async () => {
  const list = Array.from({ length: 1_250 }, (_, index) => `[gone](${index}.md)`).join('\n');
  await put('one.md', list);
  const site = await start();
  await eventually(() => expect(site.broken()).toHaveLength(21));
  expect(site.broken().at(-1)).toBe('and 1,230 more.');
  await site.close();
});

test('a site that is closed meanwhile reports nothing', async () => {
  for (let index = 0; index < 50; index += 1) await put(`${index}.md`, `# ${index}\n\n${'Some words. '.repeat(2_000)}`);
  const site = await start();
  await eventually(() => expect(countStored()).toBeGreaterThan(0));
  await site.close();
  expect(site.lines()).toEqual([]);
  await rm(folder, { recursive: true });
});
