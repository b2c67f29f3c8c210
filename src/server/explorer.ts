import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { graphiqlPage } from './graphiql.js';
import { loadAssets, renderPageTemplate } from './static-assets.js';

export interface Explorer {
  /** Serves the scripts and styles. */
  readonly assets: RequestHandler;
  readonly page: RequestHandler;
}

const web = (name: string) => fileURLToPath(new URL(`../web/${name}`, import.meta.url));

/** Returns the path of a file in a package, even if its exports don't list it. */
const inPackage = (name: string, file: string) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);

/** Below the path of the endpoint, so that a proxy that forwards `/graphql` forwards these too. */
const ASSETS_PATH = '/graphql/assets';

export interface ExplorerOptions {
  /** Whether the explorer may use introspection. */
  readonly introspection: boolean;
  /** Whether the explorer has to send the site token, which the user enters. */
  readonly needsToken: boolean;
  /** Admits a request for the page, or responds to it. */
  readonly enter: RequestHandler;
}

/** Loads GraphiQL with all its scripts and styles, so that the page requests nothing from other origins. */
export function loadExplorer({ introspection, needsToken, enter }: ExplorerOptions): Explorer {
  const assets = loadAssets(ASSETS_PATH, {
    'icon.svg': web('icon.svg'),
    'explorer.css': web('explorer.css'),
    'explorer-examples.js': web('explorer-examples.js'),
    'explorer.js': web('explorer.js'),
    'tool-header.css': web('tool-header.css'),
    'graphiql.css': inPackage('graphiql', 'graphiql.min.css'),
    'graphiql.js': inPackage('graphiql', 'graphiql.min.js'),
    'react.js': inPackage('react', 'umd/react.production.min.js'),
    'react-dom.js': inPackage('react-dom', 'umd/react-dom.production.min.js'),
  });
  const page = renderPageTemplate(web('graphiql.html'), assets)
    .replace('{{introspection}}', introspection ? 'on' : 'off')
    .replace('{{token}}', needsToken ? 'needed' : '');
  return { assets: assets.handler, page: graphiqlPage(page, enter) };
}
