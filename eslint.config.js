import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['**/dist/', 'coverage/', 'src/generated/', '.cache/', '.trellis/', 'examples/', 'stand-ins/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  { languageOptions: { parserOptions: { projectService: true } } },
  {
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/require-await': 'off',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config/config.ts reads the environment.' },
      ],
    },
  },
  {
    files: ['src/config/config.ts', 'scripts/**', 'bench/**', 'tests/**', 'packages/*/tests/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
  { files: ['tests/**', 'packages/*/tests/**'], rules: { '@typescript-eslint/no-non-null-assertion': 'off' } },
  { files: ['**/*.js'], ...tseslint.configs.disableTypeChecked },
  // The compiler checks these scripts, and knows their globals.
  { files: ['src/server/pages/browser/*.js'], rules: { 'no-undef': 'off' } },
  prettier,
);
