import { defineConfig } from 'vite';

/** What nearly every page needs. */
const SHELL =
  /node_modules[\\/](?:@preact|preact|preact-iso|openapi-fetch)[\\/]|src[\\/](?:client|generated[\\/]dashboard)[\\/]|app[\\/](?:shell[\\/])?(?!passkeys)[^\\/]+$/;

/** The pages, from `src/web/app` to `dist/pages`; the server puts its own facts into `index.html` as it sends it. */
export default defineConfig({
  root: 'src/web/app',
  base: '/pages/',
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../dist/pages',
    // Tells the server what each page is made of, to send it along.
    manifest: 'manifest.json',
    emptyOutDir: true,
    target: 'es2022',
    // A browser that has passkeys has module preloads.
    modulePreload: { polyfill: false },
    // Data URLs would be inline, and are not cached by themselves.
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: {
        // Left alone, the bundler makes a file of whatever two pages share, and on a phone each one takes a while.
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
