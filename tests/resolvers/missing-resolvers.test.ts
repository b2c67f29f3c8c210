import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/config.js';
import { startSite } from '../../src/site-data/start-site.js';
import { createTestFolder } from '../storage/engine.js';

/** Returns the warnings of a site without the resolvers of some types. */
const listWarnings = async (types: readonly string[], siteConfig = ''): Promise<readonly string[]> =>
  (await listLines(await createTestFolder(), types, siteConfig)).warnings;

async function listLines(folder: string, types: readonly string[], siteConfig = '') {
  await writeFile(join(folder, 'site.config.yaml'), siteConfig);
  const { project, ...config } = await loadConfig({
    flags: { site: folder, state: `${folder}/state` },
    env: {},
    folder,
  });
  const { site } = project;
  if (!site) throw new Error('The project has no site.');
  const resolvers = async () => {
    const { resolvers: all, ...others } = await site.resolvers();
    return { ...others, resolvers: Object.fromEntries(Object.entries(all).filter(([type]) => !types.includes(type))) };
  };
  const warnings: string[] = [];
  const infos: string[] = [];
  const ignore = () => undefined;
  const service = startSite(
    { ...config, project: { ...project, site: { ...site, resolvers } } },
    {
      log: { error: ignore, warn: (line) => warnings.push(line), info: (line) => infos.push(line) },
      terminal: { isTTY: false, write: () => true },
    },
  );
  await service.firstAttempt.catch(ignore);
  await service.close();
  return { warnings, infos };
}

test('a site names the computed fields without resolvers', async () => {
  expect(await listWarnings(['Site'])).toEqual([
    'These fields have no resolver, so their values are null: Site.buildTime. "trellis generate --stub" writes them.',
  ]);
  expect(await listWarnings([])).toEqual([]);
});

test('a site that cannot be opened, which is tried again and again, does not repeat the warning', async () => {
  expect(await listWarnings(['Site'], 'unknown: 1\n')).toEqual([]);
});

test('a site names the types without records, whose globs may be wrong', async () => {
  const folder = await createTestFolder();
  const line = `Recipe has no records. Its @source reads "recipes/**/*.md" in ${folder}.`;
  expect((await listLines(folder, [])).infos).toContain(line);
  await mkdir(join(folder, 'recipes'));
  await writeFile(join(folder, 'recipes', 'soup.md'), '---\ntitle: Soup\n---\n');
  expect((await listLines(folder, [])).infos).not.toContain(line);
});
