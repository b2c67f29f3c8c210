import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { retryOnEmfile } from '@trellis/site/sources/entries';
import { SiteFolder } from './site-folder.js';

test('openSite: reads thousands of files with few file descriptors', () => {
  const folder = new SiteFolder();
  for (let index = 0; index < 2500; index += 1) folder.put(`${index % 25}/${index}.md`, `${index}`);
  const script = `
    import { openSite } from '@trellis/site/site';
    import { records } from './dist/generated/site/records.js';
    const [directory, stateDirectory] = process.argv.slice(1);
    const site = await openSite({ directory, stateDirectory, tables: records });
    console.log(JSON.stringify(site.summary));
    site.close();`;
  // Node.js and one thread need about 50.
  const limited = 'ulimit -n 64 && exec node --input-type=module -e "$0" "$1" "$2"';
  const output = execFileSync('bash', ['-c', limited, script, folder.directory, folder.stateDirectory], {
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toMatchObject({ files: 2500, hashed: 2500 });
  folder.remove();
});

function fails(code: string, times: number): () => string {
  let count = 0;
  return () => {
    if ((count += 1) <= times) throw Object.assign(new Error(code), { code });
    return 'read';
  };
}

test.each(['EMFILE', 'ENFILE'])('whenDescriptorsAllow: retries while no descriptor is free (%s)', (code) => {
  expect(retryOnEmfile(fails(code, 3))).toBe('read');
});

test('whenDescriptorsAllow: throws other errors immediately', () => {
  expect(() => retryOnEmfile(fails('EACCES', 1))).toThrow('EACCES');
  expect(() => retryOnEmfile(() => readFileSync('/no/such/file'))).toThrow('ENOENT');
});
