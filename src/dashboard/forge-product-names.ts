import type { ForgeName } from './forges/model.js';

export const FORGE_PRODUCT_NAMES: Readonly<Record<ForgeName, string>> = {
  github: 'GitHub',
  forgejo: 'Forgejo',
  gitlab: 'GitLab',
};
