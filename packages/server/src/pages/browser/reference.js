/** Applies the theme selected in the settings of this browser, or else follows the system theme. */
function followTheme() {
  const chosen = localStorage.getItem(document.documentElement.dataset.themeKey ?? '');
  const system = matchMedia('(prefers-color-scheme: dark)');
  const show = () => {
    const isDark = chosen ? chosen === 'dark' : system.matches;
    document.documentElement.classList.toggle('dark-mode', isDark);
    document.documentElement.classList.toggle('light-mode', !isDark);
  };
  system.addEventListener('change', show);
  show();
}

followTheme();

/**
 * Attributes that Swagger UI's elements lack, by selector.
 *
 * @type {readonly (readonly [selector: string, attributes: Readonly<Record<string, string>>])[]}
 */
const ATTRIBUTES = [
  ['.information-container', { role: 'region', 'aria-label': 'About the contract' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Server and authorization' }],
  ['section.models', { 'aria-label': 'Schemas' }],
  // The page already has a heading of level 1.
  ['h1.title', { 'aria-level': '2' }],
  ['.auth-container h6', { 'aria-level': '5' }],
  ['#servers', { 'aria-label': 'Server' }],
  ['.highlight-code pre, pre.microlight', { tabindex: '0' }],
  ['.body-param__text', { 'aria-label': 'Request body' }],
  ['.examples-select-element', { 'aria-label': 'Example' }],
  ['.filter.wrapper', { role: 'search', 'aria-label': 'Operations' }],
  ['.operation-filter-input', { 'aria-label': 'Filter by tag' }],
  ['.close-modal', { 'aria-label': 'Close' }],
  // An accessible name has to begin with the visible label.
  ['.auth-btn-wrapper [aria-label="Apply credentials"]', { 'aria-label': 'Authorize: apply credentials' }],
  ['.auth-btn-wrapper [aria-label="Remove authorization"]', { 'aria-label': 'Logout: remove authorization' }],
  ['.auth-container input[type=text]', { autocomplete: 'off', spellcheck: 'false' }],
];

/** Links inside buttons that do the same as the button: duplicates for keyboard and screen reader users. */
const DUPLICATE_LINKS = '.opblock-summary-control a[href]';

/** @param {Element} reference */
function addMissingAttributes(reference) {
  for (const [selector, attributes] of ATTRIBUTES) {
    for (const element of reference.querySelectorAll(selector)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
      }
    }
  }
  for (const link of reference.querySelectorAll(DUPLICATE_LINKS)) link.removeAttribute('href');
  for (const field of reference.querySelectorAll(
    'tr[data-param-name] :is(input, select, textarea):not([aria-label])',
  )) {
    field.setAttribute('aria-label', field.closest('tr')?.dataset.paramName ?? '');
  }
  for (const table of reference.querySelectorAll('.responses-table[role=region]:not([aria-label])')) {
    table.setAttribute('aria-label', `Responses: ${table.id}`);
  }
}

const reference = document.getElementById('reference');
if (reference === null) throw new Error('The page has no element for the reference.');
new MutationObserver(() => addMissingAttributes(reference)).observe(reference, {
  childList: true,
  subtree: true,
  attributeFilter: ['aria-label', 'href'],
});

/**
 * The contracts of the running services.
 *
 * @type {readonly { readonly id: string; readonly name: string; readonly url: string }[]}
 */
const contracts = JSON.parse(document.body.dataset.contracts ?? '[]');
const requested = new URLSearchParams(location.search).get('contract');
const shown = contracts.find(({ id }) => id === requested) ?? contracts[0];

const links = contracts.map(({ id, name }) => {
  const link = document.createElement('a');
  link.href = `/docs?contract=${id}`;
  link.textContent = name;
  if (id === shown?.id) link.ariaCurrent = 'page';
  return link;
});
document.getElementById('contracts')?.append(...links);

/** @typedef {{ required?: boolean, example?: unknown, examples?: unknown, schema?: Record<string, unknown> }} Parameter */

/**
 * Removes the examples of optional parameters from a contract: "Try it out" would send them as values.
 *
 * @param {string} text
 */
function withoutOptionalExamples(text) {
  return JSON.stringify(
    JSON.parse(text, (key, value) => {
      if (key !== 'parameters' || typeof value !== 'object') return value;
      for (const parameter of /** @type {Parameter[]} */ (Object.values(value))) {
        if (parameter.required) continue;
        delete parameter.example;
        delete parameter.examples;
        delete parameter.schema?.example;
        delete parameter.schema?.examples;
      }
      return value;
    }),
  );
}

if (shown === undefined) {
  reference.textContent = 'None of the services of this server has an API reference.';
} else {
  SwaggerUIBundle({
    dom_id: '#reference',
    url: shown.url,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    deepLinking: true,
    // The default would send the contract to an external validator.
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    filter: true,
    /** @param {{ readonly url: string, text: string }} response */
    responseInterceptor(response) {
      if (new URL(response.url, location.origin).pathname === shown.url) {
        response.text = withoutOptionalExamples(response.text);
      }
      return response;
    },
  });
}
