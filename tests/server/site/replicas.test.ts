import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';

const SITE_TOKEN = 'site-token-0123456789-abcdefghijkl';
const HEADERS = { 'Content-Type': 'application/json', Authorization: `Bearer ${SITE_TOKEN}` };

/** Every field with a link or an inline image, and every kind of transform. */
const queryOf = (images: number): string => `{
  allImageProc(limit: ${images}) {
    nodes {
      original { src }
      fixed(width: 60, toFormat: PNG) { src srcSet srcWebp srcSetWebp base64 tracedSVG originalName }
      fluid(maxWidth: 90, quality: 70, srcSetBreakpoints: [40, 90]) { src srcSet srcWebp originalImg base64 }
      resize(width: 50, height: 40, rotate: 90, grayscale: true, duotone: { highlight: "#ffff00", shadow: "#00007f" }) {
        src
        tracedSVG
      }
      trimmed: resize(width: 41, trim: 10, jpegProgressive: false, cropFocus: ENTROPY) { src }
      inline: resize(width: 20, base64: true) { src }
    }
  }
  allFile(limit: 8, sort: { fields: extension }) { nodes { publicURL } }
}`;

type Access = 'public' | 'token';

/** A server, whose state folder outlives it. */
interface Replica {
  readonly state: string;
  readonly server: TrellisServer;
}

const replicas: Replica[] = [];
afterEach(async () => {
  for (const { server, state } of replicas.splice(0)) {
    await server.close();
    await rm(state, { recursive: true });
  }
});

/** Starts a server with a state folder of its own and, unless it is the first, the key of the first. */
async function start(access: Access): Promise<Replica> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-replica-'));
  const [first] = replicas;
  if (first) await copyFile(join(first.state, 'server.key'), join(state, 'server.key'));
  return open(access, state);
}

async function open(access: Access, state: string): Promise<Replica> {
  const token = access === 'token' && { siteToken: SITE_TOKEN };
  const server = await serveTrellis({
    flags: { state, services: 'site', watch: 'false', rateLimit: '0', siteAccess: access, ...token },
  });
  const replica = { server, state };
  replicas.push(replica);
  return replica;
}

/** Restarts a server after its state was lost except the key. */
async function restartWithKeyAlone(access: Access, replica: Replica): Promise<Replica> {
  await replica.server.close();
  replicas.splice(replicas.indexOf(replica), 1);
  for (const name of await readdir(replica.state)) {
    if (name !== 'server.key') await rm(join(replica.state, name), { recursive: true });
  }
  return open(access, replica.state);
}

async function query({ server }: Replica, images: number): Promise<string> {
  const body = JSON.stringify({ query: queryOf(images) });
  const response = await fetch(`${server.url}/graphql`, { method: 'POST', headers: HEADERS, body });
  return response.text();
}

/** Returns the different links in a response, including those of a `srcset`. */
function findLinks(text: string): string[] {
  expect(JSON.parse(text)).not.toHaveProperty('errors');
  return [...new Set(text.match(/\/static\/[^\s",\\]+/gu))];
}

async function get({ server }: Replica, link: string) {
  const response = await fetch(server.url + link);
  const headers = ['etag', 'cache-control', 'content-type', 'content-length', 'last-modified'] as const;
  const bytes = Buffer.from(await response.arrayBuffer());
  // The age of a signed link depends on the second of the request.
  const told = headers.map((name) => response.headers.get(name)?.replace(/max-age=\d{1,6},/u, 'max-age,') ?? null);
  return { link, status: response.status, told, bytes: bytes.toString('base64') };
}

async function getAll(replica: Replica, links: readonly string[]) {
  return Promise.all(links.map((link) => get(replica, link)));
}

const listPublic = async ({ state }: Replica): Promise<string[]> =>
  (await readdir(join(state, 'public'), { recursive: true })).sort();

describe.each<[Access, number]>([
  ['public', 3],
  ['token', 1],
])('two servers with one key and the site access %s', (access, images) => {
  test('respond to every link of each other with the same bytes and headers', async () => {
    const one = await start(access);
    const asked = await query(one, images);
    const links = findLinks(asked);
    expect(links.length).toBeGreaterThan(10 * images);
    expect(links.filter((link) => link.length > 300)).toEqual([]);

    const two = await start(access);
    const answers = await getAll(two, links);
    for (const { link, status, told } of answers) {
      expect([link, status]).toEqual([link, 200]);
      expect(told).toEqual([
        expect.stringMatching(/^"[\w-]+"$/u),
        expect.stringContaining('immutable'),
        expect.anything(),
        expect.anything(),
        null,
      ]);
    }
    expect(await getAll(one, links)).toEqual(answers);
    expect(await query(two, images)).toBe(asked);

    const again = await restartWithKeyAlone(access, two);
    expect(await getAll(again, links)).toEqual(answers);
    await rm(join(one.state, 'public'), { recursive: true });
    const pieces = links.map((link) => `${link}${link.includes('?') ? '&' : '?'}again`);
    expect((await getAll(one, pieces)).map(({ bytes }) => bytes)).toEqual(answers.map(({ bytes }) => bytes));
  });
});

test('links with a changed character are not found, and start no work', async () => {
  const replica = await start('public');
  const links = findLinks(await query(replica, 1));
  const [image] = links.filter((link) => /_w\d+/u.test(link));
  const [copy] = links.filter((link) => /^\/static\/[0-9a-f]{32}\/[^/]+$/u.test(link));
  const [original] = links.filter((link) => /^\/static\/[^/]+-[0-9a-f]{32}[^/]*$/u.test(link));
  await getAll(replica, [copy!, original!]);
  const before = await listPublic(replica);
  /** The parts of the links that determine the file. */
  const parts = [
    [image!, '/static/'.length, image!.lastIndexOf('/')],
    [image!, image!.lastIndexOf('.') + 1, image!.length],
    [copy!, '/static/'.length, copy!.length],
    [original!, '/static/'.length, original!.length],
  ] as const;
  const characters = ['0', 'a', 'F', '_', '.', '%', '%00', '%2F', '%ff', '%5C', ''];
  const changed = parts.flatMap(([link, start, end], part) =>
    Array.from({ length: end - start }, (_none, index) => {
      const at = start + index;
      const others = characters.filter((one) => one !== link[at]);
      return link.slice(0, at) + others[(at + part) % others.length]! + link.slice(at + 1);
    }),
  );
  expect(changed.length).toBeGreaterThan(150);
  for (const link of changed) {
    const response = await fetch(replica.server.url + link);
    expect([link, response.status]).toEqual([link, isWellFormed(link) ? 404 : 400]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  }
  expect(await listPublic(replica)).toEqual(before);
});

function isWellFormed(link: string): boolean {
  try {
    return decodeURIComponent(link) !== '';
  } catch {
    return false;
  }
}
