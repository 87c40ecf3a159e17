// A page that a form has led to has no address of its own: who comes back to it, or loads it again,
// would be asked to send the form once more. It takes the address of the page where the form stood,
// before there is anything to press: a form that it posts is told of this address in its turn.

if (document.referrer.startsWith(`${location.origin}/`)) history.replaceState(null, "", document.referrer);
