import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { graphiqlPage } from './graphiql.js';
import { loadAssets, loadPage } from './static-assets.js';

export interface Pages {
  /** The scripts and styles of the others. */
  readonly assets: RequestHandler;
  readonly home: RequestHandler;
  /** Where people register, sign in, and make tokens. */
  readonly signIn: RequestHandler;
  readonly explorer: RequestHandler;
}

const web = (name: string) => fileURLToPath(new URL(`../web/${name}`, import.meta.url));

/** A file of a package, also where its exports don't list it. */
const inPackage = (name: string, file: string) =>
  join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);

/** A file of a package that exports nothing but its entry, from where that is. */
const besideEntry = (name: string, file: string) => join(dirname(createRequire(import.meta.url).resolve(name)), file);

/** Below an address of the endpoint, so that a proxy that passes `/graphql` on passes these on too. */
const ASSETS_PATH = '/graphql/assets';

export interface PagesOptions {
  /** The origin that people use, asked at each request as it may depend on the port taken. */
  readonly origin: () => string;
  /** The services that run: the others are not shown. */
  readonly services: readonly string[];
  /** Whether the explorer may ask for the schema. */
  readonly introspection: boolean;
}

/** The pages that a browser is shown, with everything they need: nothing comes from elsewhere. */
export function loadPages({ origin, services, introspection }: PagesOptions): Pages {
  const assets = loadAssets(ASSETS_PATH, {
    'icon.svg': web('icon.svg'),
    'home.css': web('home.css'),
    'sign-in.css': web('sign-in.css'),
    'sign-in.js': web('sign-in.js'),
    'webauthn.js': besideEntry('@simplewebauthn/browser', '../dist/bundle/index.umd.min.js'),
    'explorer.css': web('explorer.css'),
    'explorer.js': web('explorer.js'),
    'graphiql.css': inPackage('graphiql', 'graphiql.min.css'),
    'graphiql.js': inPackage('graphiql', 'graphiql.min.js'),
    'react.js': inPackage('react', 'umd/react.production.min.js'),
    'react-dom.js': inPackage('react-dom', 'umd/react-dom.production.min.js'),
  });
  const withOrigin = (page: string): RequestHandler => {
    return (_request, response) => {
      response.set('Cache-Control', 'no-cache').type('html').send(page.replaceAll('{{origin}}', origin()));
    };
  };
  return {
    assets: assets.handler,
    home: withOrigin(keepServices(loadPage(web('index.html'), assets), services)),
    signIn: withOrigin(loadPage(web('sign-in.html'), assets)),
    explorer: graphiqlPage(
      loadPage(web('graphiql.html'), assets).replace('{{introspection}}', introspection ? 'on' : 'off'),
    ),
  };
}

/** Leaves the parts of a page out that are marked with a service that does not run. */
function keepServices(page: string, services: readonly string[]): string {
  return page.replace(/ *<(section|li) data-service="(\w+)"[^]*?<\/\1>\n/g, (part, _element, service: string) =>
    services.includes(service) ? part : '',
  );
}
