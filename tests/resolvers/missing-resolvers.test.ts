import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/config.js';
import { startSite } from '../../src/site-data/start-site.js';
import { createTestFolder } from '../storage/engine.js';

/** Returns the warnings of a site without the resolvers of some types. */
async function listWarnings(types: readonly string[], siteConfig = ''): Promise<readonly string[]> {
  const folder = await createTestFolder();
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
  const lines: string[] = [];
  const ignore = () => undefined;
  const service = startSite(
    { ...config, project: { ...project, site: { ...site, resolvers } } },
    {
      log: { error: ignore, warn: (line) => lines.push(line), info: ignore },
      terminal: { isTTY: false, write: () => true },
    },
  );
  await service.firstAttempt.catch(ignore);
  await service.close();
  return lines;
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
