/* global MutationObserver, SwaggerUIBundle, URLSearchParams, document, localStorage, location, matchMedia */

/** The theme that was chosen in the settings of this browser; else the system's, also when it changes. */
function followTheme() {
  const chosen = localStorage.getItem('trellis-theme');
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

/** What Swagger UI leaves out of its elements, by where they are. */
const ATTRIBUTES = [
  ['.information-container', { role: 'region', 'aria-label': 'About the contract' }],
  ['.scheme-container', { role: 'region', 'aria-label': 'Server and authorization' }],
  ['section.models', { 'aria-label': 'Schemas' }],
  // The page has a heading above its.
  ['h1.title', { 'aria-level': '2' }],
  ['.auth-container h6', { 'aria-level': '5' }],
  ['#servers', { 'aria-label': 'Server' }],
  ['.highlight-code pre, pre.microlight', { tabindex: '0' }],
  ['.body-param__text', { 'aria-label': 'Request body' }],
  ['.examples-select-element', { 'aria-label': 'Example' }],
  ['.close-modal', { 'aria-label': 'Close' }],
  // What is said has to begin with what is read.
  ['.auth-btn-wrapper [aria-label="Apply credentials"]', { 'aria-label': 'Authorize: apply credentials' }],
  ['.auth-btn-wrapper [aria-label="Remove authorization"]', { 'aria-label': 'Logout: remove authorization' }],
  ['.auth-container input[type=text]', { autocomplete: 'off', spellcheck: 'false' }],
];

/** Links within buttons that do the same: no keyboard and no screen reader can tell them apart. */
const DOUBLED = '.opblock-summary-control a[href]';

function complete() {
  for (const [place, attributes] of ATTRIBUTES) {
    for (const element of reference.querySelectorAll(place)) {
      for (const [name, value] of Object.entries(attributes)) {
        if (element.getAttribute(name) !== value) element.setAttribute(name, value);
      }
    }
  }
  for (const link of reference.querySelectorAll(DOUBLED)) link.removeAttribute('href');
  for (const field of reference.querySelectorAll(
    'tr[data-param-name] :is(input, select, textarea):not([aria-label])',
  )) {
    field.setAttribute('aria-label', field.closest('tr').dataset.paramName);
  }
  for (const table of reference.querySelectorAll('.responses-table[role=region]:not([aria-label])')) {
    table.setAttribute('aria-label', `Responses: ${table.id}`);
  }
}

const reference = document.getElementById('reference');
new MutationObserver(complete).observe(reference, {
  childList: true,
  subtree: true,
  attributeFilter: ['aria-label', 'href'],
});

const CONTRACTS = [
  { service: 'dashboard', name: 'Dashboard', url: '/api/openapi.json' },
  { service: 'secrets', name: 'Secrets', url: '/secrets/openapi.json' },
];

const running = document.body.dataset.services.split(' ');
const offered = CONTRACTS.filter(({ service }) => running.includes(service));
const asked = new URLSearchParams(location.search).get('contract');
const shown = offered.find(({ service }) => service === asked) ?? offered[0];

const links = offered.map(({ service, name }) => {
  const link = document.createElement('a');
  link.href = `/docs?contract=${service}`;
  link.textContent = name;
  if (service === shown?.service) link.ariaCurrent = 'page';
  return link;
});
document.getElementById('contracts').append(...links);

if (shown === undefined) {
  reference.textContent = 'This server runs no service that has a contract.';
} else {
  SwaggerUIBundle({
    dom_id: '#reference',
    url: shown.url,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
    deepLinking: true,
    // What checks contracts for the tool's makers, elsewhere.
    validatorUrl: null,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
  });
}
