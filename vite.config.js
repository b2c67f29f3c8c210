import { defineConfig } from 'vite';

/** The pages, from `src/web/app` to `dist/pages`; the server puts its own facts into `index.html` as it sends it. */
export default defineConfig({
  root: 'src/web/app',
  base: '/pages/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/pages',
    emptyOutDir: true,
    target: 'es2022',
    // A browser that has passkeys has module preloads.
    modulePreload: { polyfill: false },
    // Data URLs would be inline, and are not cached by themselves.
    assetsInlineLimit: 0,
  },
});
