import { FORGE_NAMES, FORGES, type OpenAnyForge } from './forges.js';

let opened: OpenAnyForge;
afterEach(() => opened.server.close());

describe.each(FORGE_NAMES)('reading %s', (name) => {
  beforeEach(async () => {
    opened = await FORGES[name]();
  });

  test('reads all pages of lists', async () => {
    const { forge, add } = opened;
    add('acme/shop', { pulls: 60, issues: 70 });
    for (let count = 0; count < 105; count += 1) add(`acme/r${count}`);
    const found = await forge.discover();
    const { repositories, truncated } = await forge.read(found);
    const { pullRequests, issues } = repositories.find(({ repository }) => repository.fullName === 'acme/shop')!;
    const counts = [found.length, repositories.length, pullRequests.length, issues.length];
    expect([...counts, truncated]).toEqual([106, 106, 60, 70, false]);
  });

  test.each(['a pull request changes', 'a pull request is closed', 'an issue changes', 'code is pushed'] as const)(
    'changes the revision of a repository when %s',
    async (change) => {
      const { forge, add } = opened;
      const { changes } = add('acme/shop', { pulls: 2, issues: 1 });
      const other = add('else/where', { pulls: 2, issues: 1 });
      const revision = async () => {
        const found = await forge.discover();
        return found.find(({ fullName }) => fullName === 'acme/shop')?.revision;
      };
      const before = await revision();
      other.changes[change]();
      expect(await revision()).toBe(before);
      changes[change]();
      expect(await revision()).not.toBe(before);
    },
  );

  test('returns the same revision from readRepository as from discover', async () => {
    const { forge, add } = opened;
    add('acme/shop', { pulls: 2, issues: 1 });
    const [found] = await forge.discover();
    const reading = await forge.readRepository('acme/shop');
    expect(reading?.repository).toEqual(found);
  });

  test('omits deleted repositories', async () => {
    const { forge, add, removeLast } = opened;
    add('acme/shop');
    add('acme/gone', { pulls: 1 });
    const found = await forge.discover();
    removeLast();
    const { repositories } = await forge.read(found);
    expect(repositories.map(({ repository }) => repository.fullName)).toEqual(['acme/shop']);
    expect(await forge.readRepository('acme/gone')).toBeUndefined();
  });

  test('throws if the forge fails', async () => {
    const { forge, add, server } = opened;
    add('acme/shop', { pulls: 1 });
    const found = await forge.discover();
    server.failNext({ status: 500, body: {} });
    await expect(forge.read(found)).rejects.toMatchObject({ kind: 'unreachable' });
  });
});
