export default {
  singleQuote: true,
  printWidth: 120,
  trailingComma: 'all',
  // A native parser, with which `npm run lint:format` takes two thirds of the time.
  plugins: ['@prettier/plugin-oxc'],
};
