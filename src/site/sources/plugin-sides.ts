export type ApiSide = 'browserAPIs' | 'nodeAPIs' | 'ssrAPIs';

/** For each side, the module in which a plugin exports its functions, and their known names. */
export const PLUGIN_SIDES: Readonly<Record<ApiSide, { readonly module: string; readonly known: ReadonlySet<string> }>> =
  {
    browserAPIs: {
      module: 'gatsby-browser',
      known: new Set([
        'disableCorePrefetching',
        'onClientEntry',
        'onInitialClientRender',
        'onPostPrefetchPathname',
        'onPreRouteUpdate',
        'onPrefetchPathname',
        'onRouteUpdate',
        'onRouteUpdateDelayed',
        'onServiceWorkerActive',
        'onServiceWorkerInstalled',
        'onServiceWorkerRedundant',
        'onServiceWorkerUpdateFound',
        'onServiceWorkerUpdateReady',
        'registerServiceWorker',
        'replaceComponentRenderer',
        'replaceHydrateFunction',
        'shouldUpdateScroll',
        'wrapPageElement',
        'wrapRootElement',
      ]),
    },
    nodeAPIs: {
      module: 'gatsby-node',
      known: new Set([
        'createPages',
        'createPagesStatefully',
        'createResolvers',
        'createSchemaCustomization',
        'onCreateBabelConfig',
        'onCreateDevServer',
        'onCreateNode',
        'onCreatePage',
        'onCreateWebpackConfig',
        'onPostBootstrap',
        'onPostBuild',
        'onPreBootstrap',
        'onPreBuild',
        'onPreExtractQueries',
        'onPreInit',
        'preprocessSource',
        'resolvableExtensions',
        'setFieldsOnGraphQLNodeType',
        'sourceNodes',
      ]),
    },
    ssrAPIs: {
      module: 'gatsby-ssr',
      known: new Set(['onPreRenderHTML', 'onRenderBody', 'replaceRenderer', 'wrapPageElement', 'wrapRootElement']),
    },
  };
