import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinkSigner } from '@trellis/site/public-files';
import { findServerKey } from '../../../src/storage/server-key.js';
import { serveTrellis, type TrellisServer } from '../../client/trellis-server.js';

const SITE_TOKEN = 'site-token-0123456789-abcdefghijkl';
const DAY_MS = 86_400_000;

type Mode = 'people' | 'public' | 'token';
type Headers = Readonly<Record<string, string>>;

interface Opened {
  readonly server: TrellisServer;
  readonly state: string;
  /** Headers of each credential, by its name. */
  readonly credentials: Readonly<Record<string, Headers>>;
  /** Paths of a derived image, of an original image and of a public copy, as responses contain them. */
  readonly links: readonly string[];
}

const servers = new Map<Mode, Opened>();

beforeAll(async () => {
  for (const mode of ['public', 'people', 'token'] as const) servers.set(mode, await open(mode));
});
afterAll(async () => {
  for (const { server, state } of servers.values()) {
    await server.close();
    await rm(state, { recursive: true });
  }
});

async function open(mode: Mode): Promise<Opened> {
  const state = await mkdtemp(join(tmpdir(), 'trellis-access-'));
  const flags = {
    ...{ state, services: 'site,dashboard', watch: 'false', siteAccess: mode },
    ...(mode === 'token' && { siteToken: SITE_TOKEN }),
  };
  const server = await serveTrellis({ flags });
  const credentials = await createCredentials(server);
  const reader = { public: 'none', people: 'session', token: 'site token' }[mode];
  return { server, state, credentials, links: await findLinks(server, credentials[reader]) };
}

async function createCredentials(server: TrellisServer): Promise<Opened['credentials']> {
  const { personId, headers: session } = await server.signIn('ada');
  const { sessions } = server.services.accounts;
  const caller = await sessions.findCaller(await sessions.start(personId));
  const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });
  const create = async (scope: 'read' | 'write'): Promise<Headers> => {
    const asked = { label: scope, expiresAt: new Date(Date.now() + DAY_MS), scopes: [scope] };
    const { token } = await server.services.accounts.tokens.create(caller, asked, '127.0.0.1');
    return bearer(token);
  };
  return {
    none: {},
    session,
    'ended session': { Cookie: 'trellis_session=nothing', 'Sec-Fetch-Site': 'same-origin' },
    'session from another site': { ...session, 'Sec-Fetch-Site': 'cross-site' },
    'token with read': await create('read'),
    'token without read': await create('write'),
    'wrong token': bearer('x'.repeat(40)),
    'site token': bearer(SITE_TOKEN),
    'site token, cut': bearer(SITE_TOKEN.slice(0, -1)),
    'site token as Basic': { Authorization: `Basic ${SITE_TOKEN}` },
  };
}

const QUERY = `{
  imageProc { resize(width: 40) { src } original { src } }
  file(extension: { eq: "md" }) { publicURL }
}`;

interface Links {
  readonly imageProc: { readonly resize: { readonly src: string }; readonly original: { readonly src: string } };
  readonly file: { readonly publicURL: string };
}

async function findLinks({ url }: TrellisServer, headers: Headers = {}): Promise<string[]> {
  const response = await post(url, headers, { query: QUERY });
  const { imageProc, file } = ((await response.json()) as { data: Links }).data;
  return [imageProc.resize.src, imageProc.original.src, file.publicURL];
}

const post = (url: string, headers: Headers, { query = '{ __typename }', path = '/graphql' } = {}) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });

const withoutSignature = (link: string): string => link.replace(/\?.*/, '');

function get(mode: Mode): Opened {
  const opened = servers.get(mode);
  if (!opened) throw new Error(`No server with the access ${mode}.`);
  return opened;
}

describe.each<[Mode, string, number, number]>([
  ['public', 'none', 200, 200],
  ['public', 'session', 200, 200],
  ['public', 'wrong token', 200, 200],
  ['public', 'token without read', 200, 200],
  ['people', 'none', 401, 401],
  ['people', 'session', 200, 200],
  ['people', 'ended session', 401, 401],
  ['people', 'session from another site', 403, 200],
  ['people', 'token with read', 200, 200],
  ['people', 'token without read', 403, 403],
  ['people', 'wrong token', 401, 401],
  ['people', 'site token', 401, 401],
  ['token', 'none', 401, 401],
  ['token', 'session', 401, 401],
  ['token', 'token with read', 401, 401],
  ['token', 'wrong token', 401, 401],
  ['token', 'site token', 200, 200],
  ['token', 'site token, cut', 401, 401],
  ['token', 'site token as Basic', 401, 401],
])('access %s with %s', (mode, name, posted, read) => {
  test(`POST /graphql and its alias respond with ${posted}`, async () => {
    const { server, credentials } = get(mode);
    const response = await post(server.url, credentials[name] ?? {});
    expect(response.status).toBe(posted);
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    expect(response.headers.get('www-authenticate')).toBe(posted === 401 ? 'Bearer' : null);
    const body = (await response.json()) as { data?: unknown; errors?: [{ extensions: { code: string } }] };
    expect(body.data).toEqual(posted === 200 ? { __typename: 'Query' } : undefined);
    const alias = await post(server.url, credentials[name] ?? {}, { path: '/___graphql' });
    expect(alias.status).toBe(posted);
  });

  test(`the record types of the pages respond with ${read}`, async () => {
    const { server, credentials } = get(mode);
    const response = await fetch(`${server.url}/site/record-types.json`, { headers: credentials[name] ?? {} });
    expect(response.status).toBe(read);
    if (read !== 200) return;
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
    const types = (await response.json()) as readonly { readonly kind: string }[];
    expect(types.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['File', 'ImageProc', 'Recipe']));
  });

  test(`files by their paths alone respond with ${read}`, async () => {
    const { server, credentials, links } = get(mode);
    for (const link of links) {
      const response = await fetch(server.url + withoutSignature(link), { headers: credentials[name] ?? {} });
      expect([link, response.status]).toEqual([link, read]);
      const cached = read > 200 ? 'no-store' : mode === 'public' ? IMMUTABLE : 'private, no-cache';
      expect(response.headers.get('cache-control')).toBe(cached);
      await response.arrayBuffer();
    }
  });
});

const IMMUTABLE = 'public, max-age=31536000, immutable';

test('links of a public site have no signature', () => {
  expect(get('public').links.filter((link) => link.includes('?'))).toEqual([]);
});

describe.each<Mode>(['people', 'token'])('signed links with the access %s', (mode) => {
  test('open their files without a credential, for 24 to 48 hours', async () => {
    const { server, links } = get(mode);
    for (const link of links) {
      const response = await fetch(server.url + link);
      expect([link, response.status]).toEqual([link, 200]);
      const [, seconds = ''] = /^private, max-age=(\d+), immutable$/.exec(response.headers.get('cache-control')!) ?? [];
      expect(Number(seconds)).toBeGreaterThanOrEqual(86_400 - 60);
      expect(Number(seconds)).toBeLessThanOrEqual(2 * 86_400);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
    }
  });

  test('open their files even with an invalid credential, such as an ended session', async () => {
    const { server, links, credentials } = get(mode);
    for (const link of links) {
      const response = await fetch(server.url + link, { headers: credentials['ended session']! });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
  });

  test('are the same in every response of a day', async () => {
    const { server, links, credentials } = get(mode);
    const reader = credentials[mode === 'people' ? 'token with read' : 'site token'];
    await expect(findLinks(server, reader)).resolves.toEqual(links);
  });

  test.each<[string, (link: string, other: string) => string]>([
    ['a different expiry', (link) => link.replace(/signature=(\d+)/, (_all, at) => `signature=${Number(at) + 86_400}`)],
    [
      'a different signature',
      (link) => link.replace(/\.(.)([^.]*)$/, (_all, first, rest) => `.${first === 'A' ? 'B' : 'A'}${rest}`),
    ],
    ['a shorter signature', (link) => link.slice(0, -1)],
    ['an empty signature', (link) => link.replace(/signature=.*/, 'signature=')],
    ['two signatures', (link) => link.replace(/\?(.*)/, '?$1&$1')],
    ['the signature of a different file', (link, other) => withoutSignature(link) + other.replace(/^[^?]*/, '')],
    ['a different file with this signature', (link, other) => withoutSignature(other) + link.replace(/^[^?]*/, '')],
  ])('are rejected with %s', async (_reason, change) => {
    const { server, links } = get(mode);
    for (const [index, link] of links.entries()) {
      const changed = change(link, links[(index + 1) % links.length] ?? '');
      const response = await fetch(server.url + changed);
      expect([changed, response.status]).toEqual([changed, 401]);
      expect(await response.json()).toMatchObject({ code: 'unauthenticated' });
    }
  });

  test('are rejected after they have expired, unless the request has a credential', async () => {
    const { server, state, links, credentials } = get(mode);
    const key = (await findServerKey(state))!.derive('expiring links');
    const twoDaysAgo = createLinkSigner(key, () => Date.now() - 2 * DAY_MS);
    const today = createLinkSigner(key);
    const reader = credentials[mode === 'people' ? 'session' : 'site token']!;
    for (const link of links) {
      const path = withoutSignature(link).slice('/static'.length);
      expect(`/static${today.sign(path)}`).toBe(link);
      const expired = `${server.url}/static${twoDaysAgo.sign(path)}`;
      const response = await fetch(expired);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({
        error: 'This link has expired or was changed. Query the site for a new one.',
      });
      const admitted = await fetch(expired, { headers: reader });
      expect([admitted.status, admitted.headers.get('cache-control')]).toEqual([200, 'private, no-cache']);
      await admitted.arrayBuffer();
    }
  });

  test('do not open GraphQL', async () => {
    const { server, links } = get(mode);
    const response = await fetch(`${server.url}/graphql?query={__typename}&${links[0]!.replace(/^[^?]*\?/, '')}`);
    expect(response.status).toBe(401);
  });

  test('are in every field that contains a link, but not in filters and groups', async () => {
    const { server, credentials, links } = get(mode);
    const reader = credentials[mode === 'people' ? 'session' : 'site token']!;
    const query = `{
      imageProc { fixed(width: 40) { src srcSet srcWebp srcSetWebp } fluid(maxWidth: 40) { src srcSet originalImg } }
      allFile(filter: { publicURL: { eq: "${withoutSignature(links[2]!)}" } }) { distinct(field: publicURL) }
    }`;
    const response = await post(server.url, reader, { query });
    const { data } = (await response.json()) as { data: { imageProc: Record<string, Record<string, string>> } };
    const texts = Object.values(data.imageProc).flatMap((fields) => Object.values(fields));
    const found = texts.flatMap((text) => text.split(/,\s+/)).map((candidate) => candidate.split(' ')[0]!);
    expect(found.length).toBeGreaterThan(7);
    for (const link of found) {
      const image = await fetch(server.url + link);
      expect([link, image.status]).toEqual([link, 200]);
      await image.arrayBuffer();
    }
    expect(data).toMatchObject({ allFile: { distinct: [withoutSignature(links[2]!)] } });
  });
});

describe('the GraphQL page', () => {
  const page = (mode: Mode, headers: Headers = {}) =>
    fetch(`${get(mode).server.url}/graphql`, { headers: { Accept: 'text/html', ...headers }, redirect: 'manual' });

  test('redirects to the sign-in page if a session is required', async () => {
    const response = await page('people');
    expect([response.status, response.headers.get('location')]).toEqual([303, '/sign-in?next=%2Fgraphql']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect((await page('people', get('people').credentials['ended session'])).status).toBe(303);
    expect((await page('people', get('people').credentials.session)).status).toBe(200);
  });

  test('is shown to everyone if a token is required, and prompts for it', async () => {
    const response = await page('token');
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('data-token="needed"');
    expect(await (await page('public')).text()).toContain('data-token=""');
  });
});

test('GET requests with a query need the same credential', async () => {
  const { server, credentials } = get('people');
  const url = `${server.url}/graphql?query={__typename}`;
  expect((await fetch(url, { headers: credentials.session! })).status).toBe(200);
  expect((await fetch(url, { headers: credentials['token with read']! })).status).toBe(200);
  expect((await fetch(url)).status).toBe(401);
});
