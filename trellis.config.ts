/** The services of this repository. Your own project calls `defineConfig` here. */
export { product as default } from './src/product.js';
