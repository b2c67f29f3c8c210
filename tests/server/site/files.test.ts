import { mkdir, mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';

const MORE_THAN_2_GIB = 3 * 1024 ** 3;

let base: string;
let site: string;
let state: string;
let server: TrellisServer;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'trellis-files-'));
  [site, state] = [join(base, 'site'), join(base, 'state')];
  await mkdir(site);
  await writeFile(join(site, 'post.md'), 'A post.');
});
afterEach(async () => {
  await server.close();
  await rm(base, { recursive: true });
});

async function start(): Promise<void> {
  server = await serveTrellis({ flags: { services: 'site', site, state } });
}

async function ask(query: string): Promise<unknown> {
  const response = await fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`);
  return response.json();
}

const readCopy = async (link: string) => {
  const response = await fetch(server.url + link);
  return [response.status, await response.text()];
};

test('a list with a file of more than 2 GiB has the size of each file', async () => {
  await writeFile(join(site, 'video.mp4'), '');
  await truncate(join(site, 'video.mp4'), MORE_THAN_2_GIB);
  await start();
  expect(await ask('{ allFile(sort: { fields: [size] }) { nodes { relativePath size } } }')).toEqual({
    data: {
      allFile: {
        nodes: [
          { relativePath: 'post.md', size: 7 },
          { relativePath: 'video.mp4', size: MORE_THAN_2_GIB },
        ],
      },
    },
  });
});

test('a link of publicURL serves its file again after all copies were removed, without a new query', async () => {
  await start();
  const { data } = (await ask('{ file { publicURL } }')) as { data: { file: { publicURL: string } } };
  const { publicURL } = data.file;
  expect(await readCopy(publicURL)).toEqual([200, 'A post.']);
  await rm(join(state, 'public'), { recursive: true });
  expect(await readCopy(publicURL)).toEqual([200, 'A post.']);
  const [status] = await readCopy(publicURL.replace('post.md', 'other.md'));
  expect(status).toBe(404);
});
