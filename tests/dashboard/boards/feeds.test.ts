import { EMPTY_BOARD_SNAPSHOT } from '../../../src/dashboard/boards/board.js';
import { formatAtom, toBadge } from '../../../src/dashboard/boards/feeds.js';
import { pullRequest } from '../pull-request.js';
import { openDashboard, type TestDashboard } from '../test-dashboard.js';

const createdAt = Date.parse('2026-05-01T00:00:00Z');
const feed = { id: '7f0f6f5c-9f0c-4a52-8f39-0a4b0d3e3c55', title: 'Mine', createdAt, link: 'http://localhost:4000/' };

describe('an Atom feed', () => {
  test('has the elements of RFC 4287', () => {
    const labels = [{ name: 'billing', color: '0e8a16' }];
    expect(formatAtom({ ...feed, pullRequests: [pullRequest({ labels })] }))
      .toBe(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>urn:uuid:7f0f6f5c-9f0c-4a52-8f39-0a4b0d3e3c55</id>
  <title>Mine</title>
  <updated>2026-05-02T08:00:00.000Z</updated>
  <link rel="alternate" href="http://localhost:4000/"/>
  <generator>Trellis</generator>
  <entry>
    <id>https://github.com/acme/shop/pull/17</id>
    <title>acme/shop #17: Send receipts as PDF</title>
    <updated>2026-05-02T08:00:00.000Z</updated>
    <published>2026-05-01T08:00:00.000Z</published>
    <author><name>mona</name></author>
    <link rel="alternate" href="https://github.com/acme/shop/pull/17"/>
    <category term="billing"/>
    <summary>Ready to merge. Checks pass.</summary>
  </entry>
</feed>
`);
  });

  test.each([
    ['markup', '<b>&amp;</b> "x" ]]>', '&lt;b&gt;&amp;amp;&lt;/b&gt; &quot;x&quot; ]]&gt;'],
    ['characters that XML cannot represent', 'a\u0000\u001B[1m\uFFFE\uD800b', 'a\uFFFD\uFFFD[1m\uFFFD\uFFFDb'],
    ['other scripts', 'Größe 🌱', 'Größe 🌱'],
  ])('escapes %s', (_what, text, shown) => {
    const one = pullRequest({ title: text, author: text, labels: [{ name: text, color: '000000' }] });
    const xml = formatAtom({ ...feed, title: text, pullRequests: [one] });
    for (const part of [
      `<title>${shown}</title>`,
      `#17: ${shown}</title>`,
      `<name>${shown}</name>`,
      `term="${shown}"`,
    ]) {
      expect(xml).toContain(part);
    }
  });

  test('has the 100 most recently updated pull requests, newest first, and the time of the first one', () => {
    const pullRequests = Array.from({ length: 101 }, (_, index) =>
      pullRequest({ number: index, updatedAt: new Date(createdAt + index * 1_000).toISOString() }),
    );
    const xml = formatAtom({ ...feed, pullRequests });
    const numbers = [...xml.matchAll(/shop #(\d+):/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(Array.from({ length: 100 }, (_, index) => 100 - index));
    expect(xml).toContain('<updated>2026-05-01T00:01:40.000Z</updated>\n  <link');
  });

  test('has its creation time as update time while it is empty', () => {
    expect(formatAtom({ ...feed, pullRequests: [] })).toContain('<updated>2026-05-01T00:00:00.000Z</updated>');
  });
});

test.each([
  ['no pull requests', [], '0', 'brightgreen'],
  ['passing or absent checks', ['success', 'none'], '2', 'brightgreen'],
  ['running checks', ['success', 'pending'], '2', 'yellow'],
  ['failing checks', ['failure', 'pending', 'failure'], '2 failing of 3', 'red'],
] as const)('a badge shows %s', (_what, states, message, color) => {
  const pullRequests = states.map((ci) => pullRequest({ ci }));
  expect(toBadge('Mine', pullRequests)).toEqual({ schemaVersion: 1, label: 'Mine', message, color });
});

describe('a feed URL', () => {
  let dashboard: TestDashboard;
  beforeEach(async () => {
    dashboard = await openDashboard({ origin: () => 'https://trellis.example' });
    const pullRequests = [pullRequest(), pullRequest({ number: 18, draft: true }), pullRequest({ number: 19 })];
    await dashboard.boards.save(dashboard.ada.personId, { ...EMPTY_BOARD_SNAPSHOT, pullRequests });
  });
  afterEach(() => dashboard.database.destroy());

  const create = async () => {
    const { id, url } = await dashboard.feeds.create(dashboard.ada, { kind: 'badge', label: ' Mine ' });
    return { id, token: /^https:\/\/trellis\.example\/api\/feeds\/([\w-]{43})\/badge$/.exec(url)![1]! };
  };

  test('shows the board as its owner sees it', async () => {
    const { token } = await create();
    expect((await dashboard.feeds.readBadge(token)).message).toBe('2');
    const one = { forge: 'github', fullName: 'acme/shop', number: 19, untilChange: true } as const;
    await dashboard.snoozes.save(dashboard.ada, one);
    expect(await dashboard.feeds.readBadge(token)).toMatchObject({ label: 'Mine', message: '1' });
  });

  test('is stored as a hash only', async () => {
    const { token } = await create();
    const rows = await dashboard.database.selectFrom('feeds').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(rows).toMatchObject([{ hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string }]);
  });

  test('can be deleted only by its own user', async () => {
    const { id, token } = await create();
    await dashboard.feeds.delete(dashboard.bob, id);
    expect((await dashboard.feeds.readBadge(token)).message).toBe('2');
    await dashboard.feeds.delete(dashboard.ada, id);
    await expect(dashboard.feeds.readBadge(token)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is not created for a session that has ended', async () => {
    await dashboard.database.deleteFrom('sessions').where('person_id', '=', dashboard.ada.personId).execute();
    await expect(create()).rejects.toMatchObject({ code: 'unauthenticated' });
  });

  test('stops working when its user is deleted', async () => {
    const { token } = await create();
    await dashboard.database.deleteFrom('people').where('id', '=', dashboard.ada.personId).execute();
    await expect(dashboard.feeds.readBadge(token)).rejects.toMatchObject({ code: 'not_found' });
  });
});
