import type { Target } from './src/codegen/target.js';

/** Which documents feed which folder of `src/generated`, and which generator reads them. */
export const targets: readonly Target[] = [
  {
    name: 'site',
    documents: ['schema/*.graphql'],
    load: async () => (await import('./src/codegen/site/generate-site.js')).generateSite,
  },
  {
    name: 'dashboard',
    documents: ['openapi/dashboard.yaml', 'openapi/common.yaml'],
    load: async () => {
      const { generateService } = await import('./src/codegen/openapi/generate-service.js');
      return (documents) => generateService('dashboard', documents);
    },
  },
  {
    name: 'secrets',
    documents: ['openapi/secrets.yaml', 'openapi/common.yaml'],
    load: async () => {
      const { generateService } = await import('./src/codegen/openapi/generate-service.js');
      return (documents) => generateService('secrets', documents);
    },
  },
];
