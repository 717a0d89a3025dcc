mcast_unit(forms_jobid forms)
mcast_unit(forms_roff forms)
