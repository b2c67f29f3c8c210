import { renameSync, symlinkSync } from 'node:fs';
import { createExclude, type Exclude, isExcludedPath } from '@trellis/site/sources/site-sources';
import { eventually } from '../../eventually.js';
import { WatchedFolder } from '../watch/watched-folder.js';
import { pathsOf } from './site-folder.js';

const PRIVATE = [
  ['.env', 'a name with a dot'],
  ['.env.local', 'a name with a dot'],
  ['sub/.git/config', 'a folder with a dot'],
  ['.ssh/known_hosts', 'a folder with a dot'],
  ['server.pem', 'a key or a certificate'],
  ['tls/SERVER.KEY', 'a key, in upper case'],
  ['ca.crt', 'a certificate'],
  ['app.p12', 'a key store'],
  ['app.pfx', 'a key store'],
  ['app.jks', 'a key store'],
  ['passwords.kdbx', 'a password database'],
  ['putty.ppk', 'a key of PuTTY'],
  ['id_rsa', 'an SSH identity'],
  ['id_ed25519', 'an SSH identity'],
  ['id_ecdsa_sk', 'an SSH identity'],
  ['id_rsa.pub', 'a public SSH key'],
  ['id_rsa_work', 'an SSH identity with a suffix'],
  ['id_ed25519-old/notes.md', 'a folder with such a name'],
  ['trellis.config.json', 'the configuration of the server'],
  ['sub/trellis.config.mjs', 'the configuration of the server'],
  ['site.config.yaml', 'the configuration of the site'],
  ['gatsby-config.js', 'the configuration of the site'],
] as const;

const PUBLIC = [
  'id_card.png',
  'id_list.md',
  'id_rsabc',
  'my_id_rsa',
  'key.md',
  'keys/a.md',
  'pem',
  'monkey',
  'cert.pem.md',
  'trellis.config/a.md',
  'website.config.json',
  'a..b',
  'dist/x.js',
];

const exposed = (exclude: Exclude, path: string): boolean => !isExcludedPath(path, exclude, false);

test.each(PRIVATE)('%s is private by default: %s', (path) => {
  expect(exposed(createExclude({ dotfiles: 'exclude', allow: [] }), path)).toBe(false);
});

test.each(PUBLIC)('%s is public', (path) => {
  expect(exposed(createExclude({ dotfiles: 'exclude', allow: [] }), path)).toBe(true);
});

test.each([
  ['.env', true],
  ['sub/.git/config', true],
  ['.ssh/id_rsa', false],
  ['.cache/server.key', false],
  ['site.config.json', false],
])('dotfiles: include allows only names with a dot: %s is %s', (path, isPublic) => {
  expect(exposed(createExclude({ dotfiles: 'include', allow: [] }), path)).toBe(isPublic);
});

test.each([
  ['.well-known/**', '.well-known/security.txt', true],
  ['.well-known/**', '.well-known/.hidden', false],
  ['.well-known/**', '.git/config', false],
  ['.github/workflows/*.yml', '.github/workflows/ci.yml', true],
  ['.github/workflows/*.yml', '.github/CODEOWNERS', false],
  ['.github/workflows/*.yml', '.github/workflows', false],
  ['talks/*.key', 'talks/2026.key', true],
  ['talks/*.key', 'server.key', false],
  ['**/*.crt', 'a/b/ca.crt', true],
  ['.env.example', '.env.example', true],
  ['.env.example', '.env', false],
  ['node_modules/**', 'node_modules/a.js', false],
])('allow %s: %s is public: %s', (glob, path, isPublic) => {
  expect(exposed(createExclude({ dotfiles: 'exclude', allow: [glob] }), path)).toBe(isPublic);
});

test('ignored paths stay ignored even if they are allowed', () => {
  expect(exposed(createExclude({ dotfiles: 'exclude', allow: ['.env'] }, ['.env']), '.env')).toBe(false);
});

describe('exclusions of a site', () => {
  let folder: WatchedFolder;
  beforeEach(() => {
    folder = new WatchedFolder();
  });
  afterEach(() => folder.remove());

  test('private entries have no records and are counted', async () => {
    for (const [path] of PRIVATE) folder.put(path.includes('config') ? `${path}.d/config` : path);
    for (const path of PUBLIC) folder.put(path);
    const { files, directories, summary } = await folder.scan();
    expect(pathsOf(files)).toEqual([...PUBLIC].sort());
    expect(pathsOf(directories)).toEqual(['', 'dist', 'keys', 'sub', 'tls', 'trellis.config']);
    expect(summary.privateLeftOut).toBe(PRIVATE.length);
  });

  test('allowed paths are included with their parent folders', async () => {
    const allow = ['.github/workflows/*.yml', 'talks/*.key'];
    folder.put('site.config.json', JSON.stringify({ allow }));
    for (const path of ['.github/CODEOWNERS', '.github/workflows/ci.yml', '.git/HEAD', 'talks/a.key', 'b.key']) {
      folder.put(path);
    }
    const { files, directories } = await folder.scan();
    expect(pathsOf(files)).toEqual(['.github/workflows/ci.yml', 'talks/a.key']);
    expect(pathsOf(directories)).toEqual(['', '.github', '.github/workflows', 'talks']);
  });

  test('records of a previous configuration are deleted', async () => {
    folder.put('.env');
    folder.put('site.config.json', '{ "dotfiles": "include" }');
    expect(pathsOf((await folder.scan()).files)).toEqual(['.env']);
    folder.put('site.config.json', '{}');
    expect((await folder.scan()).files).toEqual([]);
  });

  test('links to private files are left out, but files that Kubernetes mounts are not', async () => {
    folder.put('.env');
    folder.put('keys/server.key');
    folder.put('..2026_01_01/page.md');
    symlinkSync('.env', folder.path('public.txt'));
    symlinkSync('keys/server.key', folder.path('public.md'));
    symlinkSync('..2026_01_01', folder.path('..data'));
    symlinkSync('..data/page.md', folder.path('page.md'));
    expect(pathsOf((await folder.scan()).files)).toEqual(['page.md']);
  });

  test('files that become private or public are followed', async () => {
    folder.put('a.md');
    folder.put('.b.md');
    await folder.watch();
    expect(folder.paths()).toEqual(['a.md']);
    renameSync(folder.path('a.md'), folder.path('.a.md'));
    renameSync(folder.path('.b.md'), folder.path('b.md'));
    folder.put('.git/HEAD');
    await eventually(() => expect(folder.paths()).toEqual(['b.md']));
    expect(folder.paths('Directory')).toEqual(['']);
  });
});

test.each([
  ['a negation', '!*.md'],
  ['an absolute path', '/etc/*'],
])('%s in allow is rejected', async (_what, glob) => {
  const folder = new WatchedFolder();
  folder.put('site.config.json', JSON.stringify({ allow: [glob] }));
  await expect(folder.open()).rejects.toThrow('expected a glob on the path below a source');
  folder.remove();
});
