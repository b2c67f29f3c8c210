import { readFileSync } from 'node:fs';
import { listPreloadTags } from '../../src/server/pages/built-pages.js';
import { PAGE_MODULES } from '../../src/page-paths.js';

const MANIFEST = {
  'index.html': { file: 'assets/index.js', imports: ['_shell.js'], css: ['assets/index.css'] },
  '_shell.js': { file: 'assets/shell.js' },
  '_board.js': { file: 'assets/board.js', imports: ['index.html'], css: ['assets/board.css'] },
  'board.tsx': { file: 'assets/page.js', imports: ['index.html', '_board.js'], css: ['assets/board.css'] },
};

test('preload tags list each file of a page once, without the files of every page', () => {
  expect(listPreloadTags(MANIFEST, 'board.tsx', '/pages/').match(/rel="\w+"|href="[^"]*"/g)).toEqual([
    ...['rel="modulepreload"', 'href="/pages/assets/page.js"', 'rel="modulepreload"', 'href="/pages/assets/board.js"'],
    ...['rel="stylesheet"', 'href="/pages/assets/board.css"'],
  ]);
});

test('preload tags are empty for a page that the manifest lacks', () => {
  expect(listPreloadTags(MANIFEST, 'gone.tsx', '/pages/')).toBe('');
});

test.each(Object.entries(PAGE_MODULES))('PAGE_MODULES: %s has the module of its route', (path, module) => {
  const routes = readFileSync(new URL('../../src/web/app/routes.ts', import.meta.url), 'utf8');
  const route = routes.split('  {\n').find((text) => text.includes(`'${path}'`) && text.includes('import('));
  expect(route).toContain(`import('./${module.replace(/\.tsx$/, '.js')}')`);
});
