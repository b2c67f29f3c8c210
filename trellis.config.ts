/** The services of this repository. A project of one's own calls `defineConfig` here. */
export { product as default } from './src/product.js';
