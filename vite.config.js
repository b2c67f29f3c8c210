import { isBuiltin } from 'node:module';
import { defaultClientConditions, defineConfig } from 'vite';

/** Modules that nearly every page needs. */
const SHELL =
  /node_modules[\\/](?:@preact|preact|preact-iso|openapi-fetch)[\\/]|packages[\\/]client[\\/]|src[\\/]generated[\\/]dashboard[\\/]|app[\\/](?:ui[\\/])?(?!filters)[^\\/]+$/;

/** The parser of dotenv needs no module of Node; its other functions, which the pages do not call, import some. */
const dotenvInBrowsers = {
  name: 'dotenv-in-browsers',
  enforce: 'pre',
  resolveId: (id, importer = '') =>
    /[\\/]node_modules[\\/]dotenv[\\/]/.test(importer) && isBuiltin(id) ? '\0no-module' : null,
  load: (id) => (id === '\0no-module' ? 'export default {}' : null),
};

/** Builds the pages from `src/web/app` to `dist/pages`. The server adds its data to `index.html`. */
export default defineConfig({
  root: 'src/web/app',
  base: '/pages/',
  logLevel: 'warn',
  plugins: [dotenvInBrowsers],
  resolve: { conditions: ['trellis-source', ...defaultClientConditions] },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/pages',
    // The server preloads the files that the manifest lists for a page.
    manifest: 'manifest.json',
    emptyOutDir: true,
    target: 'es2022',
    // All have `light-dark()`. A replacement for older ones would ignore the theme that a user has chosen.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // Browsers with passkeys support module preloads.
    modulePreload: { polyfill: false },
    // Data URLs would be inline, without a cache of their own.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // By default the bundler creates a file for every module that two pages share, which is slow on phones.
        codeSplitting: {
          groups: [
            { name: 'shell', test: SHELL },
            { name: 'board', test: /app[\\/]board[\\/]/, minShareCount: 2 },
          ],
        },
      },
    },
  },
});
