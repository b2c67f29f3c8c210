import { createConsumerStore } from '../../src/secrets/consumers.js';
import { createSecretsOwner } from '../../src/secrets/owner.js';
import type { SecretListFilter, SecretListRequest } from '../../src/secrets/secret-list.js';
import type { SecretMetadata } from '../../src/secrets/secret-records.js';
import { ageKey, ageValue } from './age-files.js';
import { DAY_MS, openFixtures, owner, type SecretsFixtures } from './fixtures.js';

let stage: SecretsFixtures;

beforeEach(async () => {
  stage = await openFixtures();
});
afterEach(() => stage.database.destroy());

const SEED = 20_260_501;

/** A generator of numbers from 0 to below `limit`, the same in every run. */
function createRandom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

const pick = <T>(random: (limit: number) => number, values: readonly T[]): T => values[random(values.length)] as T;
const some = <T>(random: (limit: number) => number, values: readonly T[]): T[] => values.filter(() => random(3) === 0);

const CONSUMERS = ['web', 'db', 'cron', 'edge'];
const OWNER_KEY = ageKey('owner');
const KEYS = [ageKey('a'), ageKey('b'), ageKey('c'), OWNER_KEY];
const TAGS = ['prod', 'test', 'rare'];

async function readPages(request: SecretListRequest): Promise<{ secrets: SecretMetadata[]; totals: number[] }> {
  const secrets: SecretMetadata[] = [];
  const totals: number[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await stage.objects.list(owner, { ...request, cursor });
    secrets.push(...page.secrets);
    totals.push(page.total);
    if (page.next === undefined) return { secrets, totals };
    cursor = page.next;
  }
}

const byOrder = (one: SecretMetadata, other: SecretMetadata): number => {
  const keys = [one, other].map(({ slug, createdAt, id }) => [slug, createdAt.getTime(), id] as const);
  const [[slug, at, id], [otherSlug, otherAt, otherId]] = keys as [(typeof keys)[0], (typeof keys)[0]];
  if (slug !== otherSlug) return slug < otherSlug ? -1 : 1;
  return at === otherAt ? (id < otherId ? -1 : 1) : at - otherAt;
};

function matches(secret: SecretMetadata, filter: SecretListFilter): boolean {
  const { slug, usedBy, tags = [], isDue, needsReseal } = filter;
  return (
    (slug === undefined || secret.slug === slug) &&
    (usedBy === undefined || secret.usedBy.includes(usedBy)) &&
    tags.every((tag) => secret.tags.includes(tag)) &&
    (isDue === undefined || (secret.rotation?.isDue ?? false) === isDue) &&
    (needsReseal === undefined || (secret.reseal !== undefined) === needsReseal)
  );
}

/** One random change of everything that a list depends on; most of them succeed. */
async function change(random: (limit: number) => number): Promise<void> {
  const consumers = createConsumerStore(stage.database);
  const slug = `s${random(8)}`;
  const recipients = some(random, KEYS);
  const value = ageValue({ recipients: Math.max(1, recipients.length, random(4)) });
  const sent = { value, usedBy: some(random, CONSUMERS), tags: some(random, TAGS), recipients };
  const changes = [
    () => stage.add({ slug, ...sent, rotateAfterDays: pick(random, [null, 1, 3]) }),
    () => stage.add({ slug, ...sent, rotateAfterDays: 2 }),
    () => stage.objects.update({ slug }, { ...sent, usedBy: pick(random, [undefined, sent.usedBy]) }, stage.from()),
    () => stage.versions.restore({ slug, version: 1 }, stage.from()),
    () => stage.objects.patch({ slug }, { slug: `s${random(8)}` }, stage.from()),
    () => stage.objects.remove({ slug }, stage.from()),
    () => consumers.update(stage.from(), pick(random, CONSUMERS), { publicKey: pick(random, KEYS) }),
    () => consumers.update(stage.from(), pick(random, CONSUMERS), { name: pick(random, CONSUMERS) }),
    () => consumers.remove(stage.from(), pick(random, CONSUMERS)),
    () => createSecretsOwner(stage.database).saveIdentity(stage.from(), { publicKey: OWNER_KEY }),
  ];
  await pick(random, changes)().catch((error: unknown) => {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(?:conflict|not_found|invalid_input)$/) as string });
  });
}

test('every filter and page agrees with the metadata of all secrets, whatever was changed', async () => {
  const random = createRandom(SEED);
  for (let round = 0; round < 12; round += 1) {
    for (let step = 0; step < 20; step += 1) await change(random);
    stage.advance(DAY_MS / 2);
    const { secrets: all } = await readPages({ limit: 500 });
    expect(all.toSorted(byOrder)).toEqual(all);
    for (let nth = 0; nth < 12; nth += 1) {
      const filter: SecretListFilter = {
        ...(random(5) === 0 && { slug: `s${random(8)}` }),
        ...(random(3) === 0 && { usedBy: pick(random, CONSUMERS) }),
        ...(random(3) === 0 && { tags: some(random, TAGS) }),
        ...(random(3) === 0 && { isDue: random(2) === 0 }),
        ...(random(2) === 0 && { needsReseal: random(2) === 0 }),
      };
      const want = all.filter((secret) => matches(secret, filter));
      const limit = 1 + random(4);
      const { secrets, totals } = await readPages({ ...filter, limit });
      expect([filter, secrets]).toEqual([filter, want]);
      expect(new Set(totals)).toEqual(new Set([want.length]));
      const offset = random(6);
      const page = await stage.objects.list(owner, { ...filter, limit, offset });
      expect([page.secrets, page.total]).toEqual([want.slice(offset, offset + limit), want.length]);
    }
  }
});

test('a page that follows a cursor neither repeats nor skips secrets that others changed meanwhile', async () => {
  for (const slug of ['a', 'b', 'c', 'd']) await stage.add({ slug });
  const { next } = await stage.objects.list(owner, { limit: 2 });
  await stage.objects.remove({ slug: 'a' }, stage.from());
  await stage.objects.remove({ slug: 'b' }, stage.from());
  await stage.add({ slug: 'aa' });
  const page = await stage.objects.list(owner, { limit: 2, cursor: next });
  expect(page.secrets.map(({ slug }) => slug)).toEqual(['c', 'd']);
});

test.each([
  '',
  'x',
  'W10',
  Buffer.from('[1,2,"a\\u0000",3,"b"]').toString('base64url'),
  Buffer.from('[1,2,3,4,5]').toString('base64url'),
])('refuses the cursor %j', async (cursor) => {
  await expect(stage.objects.list(owner, { cursor })).rejects.toMatchObject({
    code: 'invalid_input',
    field: 'cursor',
  });
});

test('refuses an offset that would take long, and names the alternative', async () => {
  await expect(stage.objects.list(owner, { offset: 100_001 })).rejects.toMatchObject({
    code: 'invalid_input',
    field: 'offset',
    message: expect.stringContaining('Link') as string,
  });
});
