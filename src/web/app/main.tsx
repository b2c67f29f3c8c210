import { render } from 'preact';
import { App } from './app.js';
import { PAGES } from './routes.js';
import './style/tokens.css';
import './style/base.css';
import './style/forms.css';
import './style/frame.css';
import './style/lists.css';
import './style/pieces.css';

// While it is asked who is there, what they came for is on its way.
void PAGES.find(({ path }) => path === location.pathname)?.load();

const place = document.getElementById('app');
if (place === null) throw new Error('Expected the page to have a place for the application.');
render(<App />, place);
