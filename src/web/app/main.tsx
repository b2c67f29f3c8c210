import { render } from 'preact';
import { App } from './app.js';
import './style/tokens.css';
import './style/base.css';
import './style/forms.css';
import './style/frame.css';
import './style/lists.css';

const place = document.getElementById('app');
if (place === null) throw new Error('Expected the page to have a place for the application.');
render(<App />, place);
