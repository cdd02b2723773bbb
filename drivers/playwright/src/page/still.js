// Waits until nothing moves: fonts are there, no animation that ends is running, and nothing has been
// changed, loaded or done for a while. From the first time on, a document is watched for good, so that a
// page that already rests is not waited for. Answers whether it rests, after how many milliseconds, whether
// anything is animated, be it for ever, and how often anything has moved in all.
//
// With `foresees`, it does not wait for what can be foreseen: once a frame has passed, the browser expects
// no other, no animation is running, nothing is loading and no timer of the page is due, it rests. What is
// on its way to the page is not known here; whoever asks has to know that nothing is.
({ quiet, limit, foresees }) => new Promise(resolve => {
  const WATCH = Symbol.for('packtrain.watch');
  const EVENTS = ['pointerdown', 'pointerup', 'keydown', 'keyup', 'input', 'change', 'wheel', 'scroll', 'mouseover', 'focusin', 'load', 'resize', 'toggle'];
  const CHANGES = ['input', 'change', 'scroll', 'load', 'toggle'];
  const begun = performance.now();
  // A document that is opened anew loses its listeners and its root.
  if (window[WATCH]?.root !== document.documentElement) {
    window[WATCH]?.observer.disconnect();
    const watch = { last: begun, moves: 0, root: document.documentElement };
    // A picture that is taken moves the mouse and the window, too; only what the page does counts as a move.
    const move = event => { watch.last = performance.now(); if (!event || CHANGES.includes(event.type)) watch.moves++; };
    // While a picture is taken, Playwright hides carets, and in Firefox it adds an empty rule for a moment.
    const empty = node => node.nodeName === 'STYLE' && node.textContent === 'body {}';
    const bare = style => (style ?? '').replace(/caret-color:[^;]*;?/, '').replace(/[\s;]/g, '');
    const own = ({ type, attributeName, target, oldValue, addedNodes, removedNodes }) => type === 'attributes'
      ? attributeName === 'style' && bare(oldValue) === bare(target.getAttribute('style'))
      : type === 'childList' && [...addedNodes, ...removedNodes].every(empty);
    watch.observer = new MutationObserver(mutations => { if (!mutations.every(own)) move(); });
    for (const event of EVENTS) addEventListener(event, move, { capture: true, passive: true });
    Object.defineProperty(window, WATCH, { value: watch, configurable: true });
  }
  const watch = window[WATCH];
  // Shadow trees are watched one by one.
  const observe = root => {
    watch.observer.observe(root, { subtree: true, childList: true, attributes: true, attributeOldValue: true, characterData: true });
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) observe(element.shadowRoot);
  };
  if (watch.walked !== watch.moves) { observe(document); watch.walked = watch.moves; }
  const ends = animation => {
    const { endTime } = animation.effect?.getComputedTiming() ?? {};
    return animation.playState === 'running' && Number.isFinite(Number(endTime));
  };
  /** Longer than from one frame to the next: so long the browser has nothing to do only while it expects none. */
  const LONGER_THAN_A_FRAME = 18;
  const isLoading = () => document.readyState !== 'complete' || document.fonts.status === 'loading' || [...document.images].some(image => !image.complete);
  // `timers.js` stands in the page's own world, and answers by cancelling; `true` where it does not stand.
  const timersAreDue = () => document.dispatchEvent(new Event('packtrain-timers', { cancelable: true }));
  let isDone = false;
  const foresee = deadline => {
    if (isDone) return;
    const running = document.getAnimations().filter(animation => animation.playState === 'running');
    const rests = deadline.timeRemaining() > LONGER_THAN_A_FRAME && !isLoading() && !running.some(ends) && !timersAreDue();
    if (rests) return answer(true, running, true);
    setTimeout(() => requestIdleCallback(foresee), FORESEE_AGAIN);
  };
  /** Milliseconds. */
  const FORESEE_AGAIN = 4;
  const answer = (still, running, foreseen = false) => {
    isDone = true;
    resolve({ still, foreseen, animated: running.length > 0, settled: Math.max(watch.last - begun, 0), moves: watch.moves });
  };
  // A timer that comes late says that the page's own are late, too: what they do is still to come.
  let from = 0, due = begun;
  const later = wait => { due = performance.now() + wait; setTimeout(look, wait); };
  const look = () => {
    if (isDone) return;
    const now = performance.now();
    if (now - due >= quiet) from = now;
    const running = document.getAnimations().filter(animation => animation.playState === 'running');
    if (document.readyState === 'loading' || document.fonts.status === 'loading' || running.some(ends)) watch.last = now;
    const rested = now - Math.max(watch.last, from), still = rested >= quiet;
    if (!still && now - begun < limit) return later(Math.max(1, Math.min(quiet - rested, limit - (now - begun))));
    answer(still, running);
  };
  if (foresees) requestAnimationFrame(() => requestIdleCallback(foresee));
  later(0);
})
